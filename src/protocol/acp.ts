import { z } from "./droid/zod.ts";

/*
 * What the official library of ACP does not know: methods that were there before, or are not settled yet. All others
 * but those that open a session are checked by the library's own schemas.
 */

/** Models were chosen with it until they became a config option; many clients still do. */
export const legacyMethods = { setModel: "session/set_model" } as const;

export const setModelParams = z.object({ sessionId: z.string(), modelId: z.string() });

/** The library refuses a session for an MCP server that it does not know the shape of. */
export const newSessionParams = z.object({
  cwd: z.string(),
  mcpServers: z.unknown().optional(),
  additionalDirectories: z.array(z.string()).nullish(),
});

/** For `load` and `resume`; and for `fork`, which is among the unstable ones that are loaded by nobody for its sake. */
export const oldSessionParams = newSessionParams.extend({ sessionId: z.string() });
