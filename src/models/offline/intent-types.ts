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
  /** `reference`: "the password" in "reply only the password" points at something; it is not itself the answer. */
  | { readonly type: "reply"; readonly text: string; readonly reference?: string }
  | { readonly type: "remember"; readonly statement: Statement }
  /** `isGuess`: nothing in the question says that it is about what the user told. */
  | { readonly type: "recall"; readonly question: string; readonly everything: boolean; readonly isGuess?: boolean }
  | { readonly type: "calculate"; readonly expression: string; readonly value: number }
  | { readonly type: "greet" | "identity" | "help" | "thanks" | "continue" | "previous" | "placeholder" }
  /** An empty text is not quoted: alternatives must not look like an answer. */
  | { readonly type: "unknown"; readonly text: string };

export type Intent = Action | Talk;

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

const talk: ReadonlySet<string> = new Set<Talk["type"]>([
  "reply",
  "remember",
  "recall",
  "calculate",
  "greet",
  "identity",
  "help",
  "thanks",
  "continue",
  "previous",
  "placeholder",
  "unknown",
]);

export function isAction(intent: Intent): intent is Action {
  return !talk.has(intent.type);
}
