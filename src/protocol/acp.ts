import { z } from "./droid/zod.ts";

/*
 * What the official library of ACP does not know: methods that were there before, or are not settled yet. All others are
 * checked by the library's own schemas.
 */

/** Models were chosen with it until they became a config option; many clients still do. */
export const legacyMethods = { setModel: "session/set_model" } as const;

export const setModelParams = z.object({ sessionId: z.string(), modelId: z.string() });

/** `session/fork` is among the unstable ones, which are loaded by nobody for its sake. */
export const forkSessionParams = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  mcpServers: z.array(z.unknown()).optional(),
  additionalDirectories: z.array(z.string()).optional(),
});
