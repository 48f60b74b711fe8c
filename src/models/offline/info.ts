import type { ModelInfo } from "../../engine/ports.ts";

export const offlineInfo: ModelInfo = {
  id: "offline",
  provider: "tinman",
  displayName: "Tinman offline",
  contextWindow: 200_000,
  maxOutputTokens: 8_192,
  reasoningEfforts: ["none"],
  images: false,
};
