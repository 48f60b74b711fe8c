import type { EngineEvent, EventOf } from "../../engine/event.ts";
import { type EventHandlers, handleEvent, ignored } from "../../engine/event-handlers.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import type { Output } from "../front-end.ts";
import { createServerWords } from "./server-words.ts";

export const logLevels = ["off", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

interface Said {
  readonly level: LogLevel;
  readonly text: string;
}

export type Logger = ReturnType<typeof createLogger>;

/** Log lines on stderr, filtered by the chosen level. */
export function createLogger(output: Output, level: LogLevel) {
  const serverWords = createServerWords();
  const all: EventHandlers<Said> = {
    ...handlers,
    "servers.changed": (event) => warning(serverWords.failed(event)),
    "sign-in.required": (event) => warning(serverWords.signIn(event)),
  };
  const wants = (needed: LogLevel): boolean => logLevels.indexOf(level) >= logLevels.indexOf(needed);
  const say = async (needed: LogLevel, text: string): Promise<void> => {
    if (wants(needed)) await output.write(`tinman: ${terminalLine(text)}\n`);
  };
  return {
    /** Shown at every level: without it, users would misread the outcome. */
    always: (text: string) => say("off", text),
    warn: (text: string) => say("warn", text),
    event: async (event: EngineEvent): Promise<void> => {
      const said = handleEvent(all, event);
      if (said !== undefined) await say(said.level, said.text);
      else if (event.seq !== undefined) await say("debug", `${event.type} (${event.seq})`);
    },
  };
}

/** At level "debug", ignored stored events are named. */
const handlers: EventHandlers<Said> = {
  "session.opened": ignored,
  "session.updated": ignored,
  "session.titled": ignored,
  "prompt.accepted": ignored,
  "prompt.discarded": ignored,
  "prompt.queued": ignored,
  "prompt.taken": ignored,
  "turn.started": ({ model, sessionId }) => info(`turn started with ${model} in session ${sessionId}`),
  "turn.ended": ({ reason, durationMs }) => info(`turn ended: ${reason} after ${durationMs} ms`),
  "model.called": ignored,
  "message.started": ignored,
  "message.delta": ignored,
  "message.checkpoint": ignored,
  "message.ended": ignored,
  "usage.updated": ignored,
  // Without it, a waiting run would seem to hang.
  "retry.scheduled": (event) => ({ level: "warn", text: retryText(event) }),
  "compaction.started": ignored,
  "context.compacted": ({ tokensBefore, tokensAfter }) =>
    info(`Context compacted from about ${tokensBefore} to ${tokensAfter} tokens`),
  // See `createLogger`.
  "servers.changed": ignored,
  "sign-in.required": ignored,
  "sign-in.ended": ignored,
  "compaction.ended": ignored,
  notice: ({ level, text }) => ({ level: level === "warning" ? "warn" : "info", text }),
  "tool.input": ignored,
  "tool.started": ({ name }) => info(`${name} started`),
  "tool.progress": ignored,
  "tool.heartbeat": ignored,
  "tool.ended": ({ result }) => info(`${result.name} ended: ${result.status}`),
  "request.opened": ignored,
  "request.closed": ignored,
  "session.closed": ignored,
};

export function retryText({ failure, attempt, delayMs, model }: EventOf<"retry.scheduled">): string {
  if (model === undefined) return `${failure.message} Trying again in ${delayMs / 1_000} s (retry ${attempt}).`;
  return `${failure.message} Using ${model} instead${delayMs === 0 ? "" : `, in ${delayMs / 1_000} s`}.`;
}

function info(text: string): Said {
  return { level: "info", text };
}

function warning(text: string | undefined): Said | undefined {
  return text === undefined ? undefined : { level: "warn", text };
}
