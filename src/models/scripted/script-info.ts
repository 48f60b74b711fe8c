import { basename } from "node:path";
import type { ModelInfo } from "../../engine/ports.ts";

/** Defaults for a scripted model, known before its file is read. */
export function scriptInfo(id: string): ModelInfo {
  return {
    id,
    provider: "script",
    displayName: `Script ${basename(id.replace(/^script:/, ""))}`,
    contextWindow: 200_000,
    maxOutputTokens: 8_192,
    reasoningEfforts: ["none", "low", "medium", "high"],
    images: true,
  };
}
