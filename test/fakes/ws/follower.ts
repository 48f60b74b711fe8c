/** A frame of `/ws`, parsed as little as possible. */
export type Frame = {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
};

export interface FollowedAnswer {
  text: string;
  messageId: string | undefined;
  /** How it ended, once per report. */
  readonly ends: string[];
}

/**
 * A client of one session that knows only the API's rules: a chunk replaces the text at its offset, numbers rise, and
 * after a lost connection it resumes after the last number it saw.
 */
export class Follower {
  /** By turn. */
  readonly answers = new Map<string, FollowedAnswer>();
  /** Accepted messages, its own and others'. */
  readonly accepted = new Set<string>();
  /** Dropped messages. */
  readonly discarded: string[] = [];
  /** Calls that it should answer. */
  readonly calls = new Map<string, { readonly toolName: string }>();
  readonly faults: string[] = [];
  /** The durable events it saw: name and number. */
  readonly told: (readonly [method: string, seq: number])[] = [];
  lastSeq = 0;
  isStopped = false;

  take(frame: Frame): void {
    const { method, params = {}, result } = frame;
    if (method === undefined) {
      if (typeof result?.messageId === "string") {
        this.accepted.add(result.messageId);
        this.number("ack", result.seq);
      }
      return;
    }
    if (this.isStopped) this.faults.push(`${method} after the end of the session`);
    if (method === "AIMessageChunkNotification") this.chunk(params);
    else if (method === "SessionStatusNotification") this.status(params);
    else if (params.seq !== undefined) this.number(method, params.seq);
    if (method === "UserMessageNotification") this.accepted.add(String(params.messageId));
    if (method === "ToolCallNotification" && params.execution === "client") {
      this.calls.set(String(params.toolCallId), { toolName: String(params.toolName) });
    }
    if (method === "ToolResultNotification") this.calls.delete(String(params.toolCallId));
  }

  private chunk(params: Readonly<Record<string, unknown>>): void {
    const { turnId, chunk, offset, isFinal, snapshot, reason } = params;
    if (params.seq !== undefined) this.number("AIMessageChunkNotification", params.seq);
    if (turnId === undefined) {
      this.discarded.push(String(params.messageId));
      return;
    }
    const key = String(turnId);
    const answer = this.answers.get(key) ?? { text: "", messageId: undefined, ends: [] };
    this.answers.set(key, answer);
    if (answer.ends.length > 0) this.faults.push(`a chunk after the end of ${key}`);
    const at = Number(offset);
    if (at > answer.text.length) this.faults.push(`a gap in ${key}: ${at} after ${answer.text.length}`);
    // At the end, only text that a dead server had not stored can be taken back.
    const mayShorten = snapshot === true || (isFinal === true && reason === "interrupted");
    if (at < answer.text.length && !mayShorten) this.faults.push(`a repeat in ${key}: ${at} of ${answer.text.length}`);
    answer.text = answer.text.slice(0, at) + String(chunk);
    if (params.messageId !== undefined) answer.messageId = String(params.messageId);
    if (isFinal === true) answer.ends.push(String(reason));
  }

  private status({ status, seq }: Readonly<Record<string, unknown>>): void {
    if (status === 2) this.isStopped = true;
    if (status === 3) {
      if (seq !== this.lastSeq) this.faults.push(`status 3 at ${seq}, not at ${this.lastSeq}`);
      this.told.push(["SessionStatusNotification", Number(seq)]);
    }
  }

  private number(what: string, seq: unknown): void {
    if (typeof seq !== "number" || seq <= this.lastSeq) this.faults.push(`${what} ${seq} after ${this.lastSeq}`);
    this.lastSeq = Math.max(this.lastSeq, Number(seq));
    this.told.push([what, Number(seq)]);
  }
}
