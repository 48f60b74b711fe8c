import type { ToolCallBlock } from "./message.ts";
import type { Decision, Preview } from "./permission.ts";
import type { Autonomy } from "./settings.ts";

export interface Question {
  /** Starts at 1. */
  readonly index: number;
  readonly topic: string;
  readonly question: string;
  readonly options: readonly string[];
}

/** A request to the attached clients. */
export type Interaction =
  | {
      readonly kind: "permission";
      readonly calls: readonly {
        readonly call: ToolCallBlock;
        readonly decision: Decision;
        readonly preview?: Preview;
      }[];
    }
  | { readonly kind: "question"; readonly callId: string; readonly questions: readonly Question[] }
  | {
      readonly kind: "plan";
      readonly callId: string;
      readonly plan: string;
      readonly title?: string;
      readonly optionNames?: readonly string[];
    }
  /** A call for the client to run. */
  | { readonly kind: "tool"; readonly call: ToolCallBlock };

/** Requests for a person. */
export type PersonalInteraction = Exclude<Interaction, { kind: "tool" }>;

/** A client's answer, or the engine's substitute if there was none. */
export type Answer =
  /**
   * `always` raises the session's level to the impact of these calls. `tools` and `server`: calls of these tools, or of all
   * tools of their servers, are never asked about again in this session.
   */
  | { readonly kind: "allow"; readonly always?: boolean | "tools" | "server" }
  | { readonly kind: "answers"; readonly answers: readonly { readonly index: number; readonly answer: string }[] }
  /** The plan is approved; later calls follow `autonomy`. */
  | { readonly kind: "approve"; readonly autonomy: Autonomy }
  /** The result of a call that the client ran. */
  | { readonly kind: "result"; readonly text: string; readonly isError?: boolean }
  /** A refusal. `why` goes to the model unless it is just the user's plain no. */
  | { readonly kind: "cancel"; readonly why?: string };
