import type { ToolCallBlock } from "./message.ts";
import type { Decision, Preview } from "./permission.ts";
import type { Autonomy } from "./settings.ts";

export interface Question {
  /** Counts from 1. */
  readonly index: number;
  readonly topic: string;
  readonly question: string;
  readonly options: readonly string[];
}

/** A request to whoever is attached. */
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
  /** A call that the client runs. */
  | { readonly kind: "tool"; readonly call: ToolCallBlock };

/** What people are asked. */
export type PersonalInteraction = Exclude<Interaction, { kind: "tool" }>;

/** What a client answers, or what the engine notes when nobody did. */
export type Answer =
  /** `always` raises the session's level to the impact of what was asked. */
  | { readonly kind: "allow"; readonly always?: boolean }
  | { readonly kind: "answers"; readonly answers: readonly { readonly index: number; readonly answer: string }[] }
  /** The plan is approved; later calls follow `autonomy`. */
  | { readonly kind: "approve"; readonly autonomy: Autonomy }
  /** What came of a call that the client ran. */
  | { readonly kind: "result"; readonly text: string; readonly isError?: boolean }
  /** No; `why` is told to the model when it is not the user's plain no. */
  | { readonly kind: "cancel"; readonly why?: string };
