import type { ServerEventBody, SignInOutcome } from "../../engine/servers/server-state.ts";
import type { SignInAnswer } from "../sign-in/server.ts";
import type { ServerSignIn } from "../sign-in/sign-ins.ts";

export interface SessionSignInParts {
  readonly server: string;
  readonly signIn: ServerSignIn;
  tell(event: ServerEventBody): void;
  /** A client is attached that can ask the user. */
  canAsk(): boolean;
  /** What `state` returns may have changed. */
  changed(): void;
  /** There are tokens to try now. */
  connect(): void;
}

/** A session's sign-in to one server. Nothing here rejects, except as the store of tokens does. */
export class SessionSignIn {
  /** Resolves when it is known whether there are tokens. */
  readonly ready: Promise<void>;
  private readonly parts: SessionSignInParts;
  private hasTokens: boolean | undefined;
  private running: Promise<SignInOutcome> | undefined;
  /** The user was asked in this session, or has signed out. */
  private wasAsked = false;

  constructor(parts: SessionSignInParts) {
    this.parts = parts;
    this.ready = this.look().catch(() => undefined);
  }

  get state() {
    const { pending } = this.parts.signIn;
    return {
      ...(this.hasTokens === undefined ? {} : { hasTokens: this.hasTokens }),
      ...(pending === undefined ? {} : { signIn: pending }),
    };
  }

  /** The server refuses requests. Asks the user, once in a session. */
  needed(): void {
    if (this.wasAsked || !this.parts.canAsk()) return;
    this.begin().catch(() => undefined);
  }

  begin(): Promise<SignInOutcome> {
    this.wasAsked = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
      this.parts.changed();
    });
    return this.running;
  }

  finish(state: string, answer: SignInAnswer): Promise<boolean> {
    return this.parts.signIn.finish(state, answer);
  }

  cancel(): Promise<boolean> {
    return this.parts.signIn.cancel();
  }

  async forget(): Promise<void> {
    this.wasAsked = true;
    await this.parts.signIn.forget();
    await this.look();
  }

  close(): void {
    this.parts.signIn.close();
  }

  private async run(): Promise<SignInOutcome> {
    const { server, signIn, tell, changed } = this.parts;
    const { outcome, message } = await signIn.start(({ url, message: words, state }) => {
      tell({ type: "sign-in.required", server, url, message: words, state });
      changed();
    });
    await this.look();
    tell({ type: "sign-in.ended", server, outcome, message });
    if (outcome === "success") this.parts.connect();
    return outcome;
  }

  private async look(): Promise<void> {
    const before = this.hasTokens;
    this.hasTokens = await this.parts.signIn.hasTokens();
    if (this.hasTokens !== before) this.parts.changed();
  }
}
