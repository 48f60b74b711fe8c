import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSession, resumeSession } from "../../../src/sdk/node.ts";
import { isFinal } from "../../frontends/interactive/served.ts";
import { over } from "./over-rpc.ts";
import { type Server, startServer, tokens, users } from "./server.ts";

/** The ceilings of `serve.users` for ann, over both wires of the built program. */

const [ann, ...others] = users;
let server: Server;
let hers: string;
const config = (ceilings: object): object => ({
  serve: { users: [{ ...ann, ...ceilings }, ...others] },
  interactive: { toolExecution: "server", autonomy: "medium" },
});

beforeAll(async () => {
  server = await startServer({ auth: true, config: config({}) });
  // By a link in the configuration, and by its real path in the session.
  await mkdir(join(server.bench.root, "projects", "ann"), { recursive: true });
  await symlink(join(server.bench.root, "projects"), join(server.bench.root, "link"));
  hers = join(server.bench.root, "link", "ann");
});
afterAll(() => server.remove());

async function allow(ceilings: object): Promise<void> {
  const file = join(server.bench.home, ".tinman", "config.yaml");
  await writeFile(`${file}.new`, JSON.stringify(config(ceilings)));
  await rename(`${file}.new`, file);
}

test("lower ceilings reach a user while the server runs: connections close, and sessions reopen within them", async () => {
  const [rpc, ws] = [over(server, tokens.ann), await server.connect(tokens.ann)];
  const session = await createSession({ ...rpc, cwd: hers, autonomyLevel: "high" });
  const sessionId = await ws.start();
  await allow({ folders: [hers], autonomy: "low", models: ["offline"] });
  expect((await ws.closedWith).code).toBe(1008);
  await session.close().catch(() => undefined);

  const again = await server.connect(tokens.ann);
  const refused = await again.request("startSession", { userId: "u" });
  expect(refused.error).toMatchObject({ code: -32000, data: { reason: "forbidden" } });
  expect(refused.error?.message).toMatch(/^Folder ".*" is outside this user's folders\. Available: .*projects\/ann\.$/);
  expect((await again.request("resumeSession", { sessionId })).error).toEqual(refused.error);
  expect((await again.request("resumeSession", { sessionId: session.id })).result).toMatchObject({ status: 1 });
  const loaded = await resumeSession(session.id, rpc);
  expect(loaded.settings.autonomyLevel).toBe("low");
  await expect(loaded.updateSettings({ autonomyLevel: "high" })).rejects.toThrow("is above the limit here (low)");
  await expect(loaded.updateSettings({ modelId: "other" })).rejects.toThrow("Available: offline.");
  await expect(createSession({ ...rpc, cwd: server.bench.cwd })).rejects.toThrow("outside this user's folders");
  await loaded.close();

  // Another user is unaffected.
  const bob = await server.connect(tokens.bob);
  await bob.request("sendUserMessage", { sessionId: await bob.start(), message: "Just reply OK." });
  expect((await bob.until(isFinal)).at(-1)?.params).toMatchObject({ reason: "completed" });
  await Promise.all([again.close(), bob.close()]);
});
