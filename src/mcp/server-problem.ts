import { terminalLine } from "../text/terminal-text.ts";
import { textStart } from "../text/text-cut.ts";
import { errorMessage, fieldsOf } from "../text/values.ts";

const mostCharacters = 300;

/** Why a server cannot be used, as one sentence for the user. */
export class ServerProblem extends Error {
  /** Trying again would not help. */
  readonly isLasting: boolean;
  readonly needsSignIn: boolean;

  constructor(message: string, { isLasting = false, needsSignIn = false } = {}) {
    super(message);
    this.isLasting = isLasting;
    this.needsSignIn = needsSignIn;
  }
}

/** Untrusted text on one line, without control characters and of limited length. */
export function shownLine(text: string, most = mostCharacters): string {
  const line = terminalLine(
    textStart(text, 4 * most)
      .replace(/\s+/g, " ")
      .trim(),
  );
  return line.length <= most ? line : `${textStart(line, most - 1)}…`;
}

/** The data of an error that we put in place of an answer that never comes. */
export const lostAnswer = { why: "lost" };

export function problemOf(error: unknown): ServerProblem {
  if (error instanceof ServerProblem) return error;
  if (fieldsOf(error).data === lostAnswer) return new ServerProblem(errorMessage(error));
  return new ServerProblem(withStop(shownLine(errorMessage(error))));
}

export function withStop(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Removes these values, such as keys, from a text. */
export function withoutValues(text: string, values: readonly string[]): string {
  return values.reduce((rest, value) => (value.length < 6 ? rest : rest.replaceAll(value, "…")), text);
}
