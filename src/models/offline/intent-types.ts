import type { Fact, Statement } from "./memory.ts";

/** Stands for "it" and "that file": the path of the step before. */
export const previousPath = "";

/** Steps that need a tool. */
export type Action =
  | { readonly type: "list"; readonly path?: string }
  | { readonly type: "run"; readonly command: string }
  | { readonly type: "create"; readonly path: string; readonly content: string }
  | { readonly type: "read"; readonly path: string }
  | { readonly type: "edit"; readonly path: string; readonly from: string; readonly to: string; readonly all: boolean }
  | { readonly type: "grep"; readonly pattern: string; readonly path?: string; readonly ignoreCase: boolean }
  | { readonly type: "glob"; readonly pattern: string; readonly folder?: string }
  | { readonly type: "ask"; readonly question: string; readonly topic: string; readonly options: readonly string[] }
  | { readonly type: "plan"; readonly goal: string }
  | { readonly type: "todo"; readonly items: readonly string[] }
  | { readonly type: "summary"; readonly path?: string };

/** Steps that need only words. */
export type Talk =
  | { readonly type: "remember"; readonly statement: Statement }
  | {
      readonly type: "recall";
      readonly question: string;
      readonly everything: boolean;
      /** Nothing in the question says that it is about what the user told. */
      readonly isGuess?: boolean;
      /** A fact must have every word of the question. */
      readonly isStrict?: boolean;
    }
  | { readonly type: "calculate"; readonly expression: string; readonly value: number }
  | { readonly type: "greet" | "identity" | "help" | "thanks" | "continue" | "previous" | "placeholder" }
  | { readonly type: "unknown" };

/** An answer that the request gives: its words, or what it points at ("the password" in "reply only the password"). */
export type Answer =
  | { readonly type: "reply"; readonly text: string }
  | { readonly type: "pick"; readonly what: string };

export type Step = Action | Talk;
export type Intent = Step | Answer;

/** One clause of a request, as the recognisers see it. */
export interface Clause {
  /** As it was written. */
  readonly raw: string;
  /** Without politeness. */
  readonly text: string;
  /** What the user has told so far; worked out when first asked for. */
  facts(): readonly Fact[];
}

export type Recogniser = (clause: Clause) => Intent | undefined;

export function isAnswer(intent: Intent): intent is Answer {
  return intent.type === "reply" || intent.type === "pick";
}

const actions: ReadonlySet<string> = new Set<Action["type"]>([
  "list",
  "run",
  "create",
  "read",
  "edit",
  "grep",
  "glob",
  "ask",
  "plan",
  "todo",
  "summary",
]);

export function isAction(intent: Intent): intent is Action {
  return actions.has(intent.type);
}
