/** A prompt's origin. */
export interface Origin {
  readonly requestId: string;
  /** The client's name for the turn. */
  readonly clientMessageId?: string;
  readonly traceparent?: unknown;
}

/** The origins of one client's prompts that no turn has taken yet. */
export class Origins {
  /** Oldest first. The id of a discarded prompt can be reused before a slow client has read of the discard. */
  private known: { readonly messageId: string; readonly origin: Origin }[] = [];

  add(messageId: string, origin: Origin): void {
    this.known.push({ messageId, origin });
  }

  of(messageId: string): Origin | undefined {
    return this.known.find((one) => one.messageId === messageId)?.origin;
  }

  get oldest(): Origin | undefined {
    return this.known[0]?.origin;
  }

  forget(origin: Origin): void {
    this.known = this.known.filter((one) => one.origin !== origin);
  }

  /** A turn took the prompt, or it was dropped: forgets the oldest with this id. */
  settle(messageId: string): void {
    const origin = this.of(messageId);
    if (origin !== undefined) this.forget(origin);
  }
}
