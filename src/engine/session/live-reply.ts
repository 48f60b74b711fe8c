import { compact } from "../../text/text-cut.ts";
import type { EngineEvent } from "../event.ts";
import type { SessionState } from "../log/history.ts";

interface Block {
  readonly type: "text" | "thinking";
  text: string;
}

/** The text of the reply that is being written, as far as clients have been told: the log has it only now and then. */
export class LiveReply {
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
    }
  }

  partial(): SessionState["partial"] {
    const { messageId, at } = this;
    if (messageId === undefined) return undefined;
    // Those of which nothing was told, as calls are, keep their places: what follows is told by its place.
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
