/** Where a prompt came from. */
export interface Origin {
  readonly requestId: string;
  /** The client's own name for the turn. */
  readonly clientMessageId?: string;
  readonly traceparent?: unknown;
}

/** Of the prompts of one client that no turn has taken up yet. */
export class Origins {
  /** Oldest first. A discarded prompt's id can be reused before a slow client has read of the discard. */
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

  /** A turn took the prompt up, or it was dropped: the oldest of this id is forgotten. */
  settle(messageId: string): void {
    const origin = this.of(messageId);
    if (origin !== undefined) this.forget(origin);
  }
}
