import { compact } from "../../text/text-cut.ts";
import type { EngineEvent } from "../event.ts";
import type { SessionState } from "../log/history.ts";

interface Block {
  readonly type: "text" | "thinking";
  text: string;
}

/** The current reply's text as sent to clients, and a compaction under way. The log only has checkpoints of the text. */
export class LiveReply {
  isCompacting = false;
  private messageId: string | undefined;
  private at = 0;
  private blocks = new Map<number, Block>();

  note(event: EngineEvent): void {
    if (event.type === "message.delta") {
      if (event.messageId !== this.messageId) this.begin(event.messageId, event.at);
      const block = this.blocks.get(event.block);
      if (block === undefined) this.blocks.set(event.block, { type: event.kind, text: event.text });
      else block.text += event.text;
    } else if (event.type === "message.checkpoint") {
      compact(this.blocks.get(event.block)?.text ?? "");
    } else if (event.type === "message.ended" || event.type === "turn.ended") {
      this.begin(undefined, event.at);
    } else if (event.type === "compaction.started" || event.type === "compaction.ended") {
      this.isCompacting = event.type === "compaction.started";
    }
  }

  partial(): SessionState["partial"] {
    const { messageId, at } = this;
    if (messageId === undefined) return undefined;
    // Blocks that were not sent, such as calls, keep their index, because later blocks refer to theirs.
    const places = Math.max(...this.blocks.keys()) + 1;
    const blockAt = (_: unknown, place: number): Block => ({ type: "thinking", text: "", ...this.blocks.get(place) });
    return { messageId, at, blocks: Array.from({ length: places }, blockAt) };
  }

  private begin(messageId: string | undefined, at: number): void {
    this.messageId = messageId;
    this.at = at;
    this.blocks = new Map();
  }
}
