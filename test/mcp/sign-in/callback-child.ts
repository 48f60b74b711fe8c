import { openCallback } from "../../../src/mcp/sign-in/callback.ts";

const { uri } = await openCallback({ take: () => undefined });
process.stdout.write(`${uri}\n`);
