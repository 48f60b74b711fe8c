import type { EngineEvent } from "../../engine/event.ts";
import { type EventHandlers, handleEvent, ignored } from "../../engine/event-handlers.ts";
import { textStart } from "../../text/text-cut.ts";
import type { Output } from "../front-end.ts";
import { connectingWords } from "./server-words.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

/** One line on a terminal: the run's activity and its duration. Removed at the end. */
export class Progress {
  private readonly output: Output;
  private readonly startedAt = Date.now();
  private readonly timer: NodeJS.Timeout;
  private readonly running = new Map<string, string>();
  private doing = "starting";
  private frame = 0;
  /** For servers, before the first model call. */
  private isWaiting = false;
  /** The run's activity after an event. */
  private readonly handlers: EventHandlers<string> = {
    "session.opened": ignored,
    "session.updated": ignored,
    "session.titled": ignored,
    "prompt.accepted": ignored,
    "prompt.discarded": ignored,
    "prompt.queued": ignored,
    "prompt.taken": ignored,
    "turn.started": () => {
      this.isWaiting = true;
      return "thinking";
    },
    "turn.ended": ignored,
    "model.called": () => {
      this.isWaiting = false;
      return "thinking";
    },
    "message.started": ignored,
    "message.delta": ({ kind }) => (kind === "text" ? "answering" : "thinking"),
    "message.checkpoint": ignored,
    "message.ended": ignored,
    "usage.updated": ignored,
    "retry.scheduled": ({ failure }) => `waiting to try again: ${failure.message}`,
    "compaction.started": () => "compacting the conversation",
    "context.compacted": ignored,
    "servers.changed": (event) => (this.isWaiting ? (connectingWords(event) ?? "thinking") : undefined),
    "sign-in.required": ignored,
    "sign-in.ended": ignored,
    "compaction.ended": () => "thinking",
    notice: ignored,
    "tool.input": ignored,
    "tool.started": ({ callId, name }) => {
      this.running.set(callId, name);
      return this.runningNow();
    },
    "tool.progress": ({ name, text }) => `${name}: ${text.trim().split("\n").at(-1) ?? ""}`,
    "tool.heartbeat": ignored,
    "tool.ended": ({ result }) => {
      this.running.delete(result.callId);
      return this.runningNow();
    },
    "request.opened": ignored,
    "request.closed": ignored,
    "session.closed": ignored,
  };

  constructor(output: Output) {
    this.output = output;
    this.timer = setInterval(() => this.draw(), frameMs);
    this.timer.unref();
  }

  show(event: EngineEvent): void {
    this.doing = handleEvent(this.handlers, event) ?? this.doing;
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.output.write("\r\x1b[2K");
  }

  private runningNow(): string {
    return this.running.size === 0 ? "thinking" : `running ${[...this.running.values()].join(", ")}`;
  }

  private draw(): void {
    this.frame = (this.frame + 1) % frames.length;
    const seconds = Math.floor((Date.now() - this.startedAt) / 1_000);
    const width = Math.max(10, this.output.columns - 12);
    // The text comes from the model or a tool, so only printable characters reach the terminal.
    const doing = textStart(this.doing.replace(/[\p{Cc}\p{Cf}]/gu, " "), width);
    void this.output.write(`\r\x1b[2K${frames[this.frame]} ${doing} ${seconds}s`);
  }
}
