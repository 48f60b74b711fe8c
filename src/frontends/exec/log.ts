import type { EngineEvent } from "../../core/event.ts";
import { terminalLine } from "../../core/terminal-text.ts";
import type { Output } from "../front-end.ts";

export const logLevels = ["off", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Lines for people on stderr, by how much they want to know. */
export interface Logger {
  /** At every level: without it, the outcome would be taken for something else. */
  always(text: string): Promise<void>;
  warn(text: string): Promise<void>;
  event(event: EngineEvent): Promise<void>;
}

export function createLogger(output: Output, level: LogLevel): Logger {
  const wants = (needed: LogLevel): boolean => logLevels.indexOf(level) >= logLevels.indexOf(needed);
  const say = async (needed: LogLevel, text: string): Promise<void> => {
    if (wants(needed)) await output.write(`tinman: ${terminalLine(text)}\n`);
  };
  return {
    always: (text) => say("off", text),
    warn: (text) => say("warn", text),
    event: async (event) => {
      if (event.type === "notice") return say(event.level === "warning" ? "warn" : "info", event.text);
      if (event.type === "retry.scheduled") return say("warn", retryWords(event));
      if (!wants("info")) return;
      const words = describe(event);
      if (words !== undefined) await say("info", words);
      else if (event.seq !== undefined) await say("debug", `${event.type} (${event.seq})`);
    },
  };
}

/** A run that seems to hang is told to be waiting, and why. */
function retryWords({ failure, attempt, delayMs }: EngineEvent & { type: "retry.scheduled" }): string {
  return `${failure.message} Trying again in ${delayMs / 1_000} s (retry ${attempt}).`;
}

function describe(event: EngineEvent): string | undefined {
  switch (event.type) {
    case "turn.started":
      return `turn started with ${event.model} in session ${event.sessionId}`;
    case "tool.started":
      return `${event.name} started`;
    case "tool.ended":
      return `${event.result.name} ended: ${event.result.status}`;
    case "turn.ended":
      return `turn ended: ${event.reason} after ${event.durationMs} ms`;
    default:
      return undefined;
  }
}
