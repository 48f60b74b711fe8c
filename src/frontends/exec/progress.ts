import type { EngineEvent } from "../../core/event.ts";
import { textStart } from "../../core/text-cut.ts";
import type { Output } from "../front-end.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

/** One line on a terminal that says what the run is doing and for how long. Nothing of it is left at the end. */
export class Progress {
  private readonly output: Output;
  private readonly startedAt = Date.now();
  private readonly timer: NodeJS.Timeout;
  private readonly running = new Map<string, string>();
  private doing = "starting";
  private frame = 0;

  constructor(output: Output) {
    this.output = output;
    this.timer = setInterval(() => this.draw(), frameMs);
    this.timer.unref();
  }

  show(event: EngineEvent): void {
    switch (event.type) {
      case "turn.started":
        this.doing = "thinking";
        break;
      case "message.delta":
        this.doing = event.kind === "text" ? "answering" : "thinking";
        break;
      case "tool.started":
        this.running.set(event.callId, event.name);
        this.doing = `running ${[...this.running.values()].join(", ")}`;
        break;
      case "tool.progress":
        this.doing = `${event.name}: ${event.text.trim().split("\n").at(-1) ?? ""}`;
        break;
      case "tool.ended":
        this.running.delete(event.result.callId);
        this.doing = this.running.size === 0 ? "thinking" : `running ${[...this.running.values()].join(", ")}`;
        break;
      case "retry.scheduled":
        this.doing = `waiting to try again: ${event.failure.message}`;
        break;
      default:
        break;
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.output.write("\r\x1b[2K");
  }

  private draw(): void {
    this.frame = (this.frame + 1) % frames.length;
    const seconds = Math.floor((Date.now() - this.startedAt) / 1_000);
    const width = Math.max(10, this.output.columns - 12);
    // The text is the model's or a tool's: only printable characters of it may reach the terminal.
    const doing = textStart(this.doing.replace(/[\p{Cc}\p{Cf}]/gu, " "), width);
    void this.output.write(`\r\x1b[2K${frames[this.frame]} ${doing} ${seconds}s`);
  }
}
