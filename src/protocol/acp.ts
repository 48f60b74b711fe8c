import { z } from "./droid/zod.ts";

/*
 * Schemas that the official ACP library lacks: legacy and unstable methods, and those that open a session. The library's own
 * schemas check all others.
 */

/** Set the model before it became a config option. Many clients still use it. */
export const legacyMethods = { setModel: "session/set_model" } as const;

export const setModelParams = z.object({ sessionId: z.string(), modelId: z.string() });

/** Lenient about `mcpServers`: the library's schema would reject the session for an unknown shape. */
export const newSessionParams = z.object({
  cwd: z.string(),
  mcpServers: z.unknown().optional(),
  additionalDirectories: z.array(z.string()).nullish(),
});

/** For `load`, `resume` and `fork`. The library has `fork` only among its unstable schemas, which we don't load. */
export const oldSessionParams = newSessionParams.extend({ sessionId: z.string() });
