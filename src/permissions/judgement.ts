import type { AccessClass, Touch } from "../core/permission.ts";
import type { Arg, Printed } from "./arg.ts";

/** Where a command runs, and what it is fed with. */
export interface Surroundings {
  /** Every folder that may be the working directory, absolute; `undefined` when that is not known. */
  readonly folders: readonly string[] | undefined;
  readonly home: string;
  /** It is started by another program, and so no builtin of the shell. */
  readonly isExternal?: boolean;
  /** What the part of the pipeline before it prints: paths below these folders. */
  readonly input: Printed | undefined;
  /** Variables it is given that are not known to be harmless. */
  readonly variables?: readonly string[];
}

/** What is thought of one simple command. */
export interface Judgement {
  readonly class: AccessClass;
  readonly rule: string;
  readonly why: string;
  readonly touches: readonly Touch[];
  /** Commands that it would run in turn. */
  readonly runs: readonly Inner[];
  readonly prints?: Printed | undefined;
  /** Paths may lead elsewhere afterwards. */
  readonly makesLinks?: boolean;
  /** It changes what is in files, and not which files there are. */
  readonly keepsNames?: boolean;
  /** Variables that it gives to all commands behind it. */
  readonly exports?: readonly string[];
}

export type Inner =
  /** A command as words. */
  | { readonly kind: "words"; readonly args: readonly Arg[]; readonly in: Surroundings }
  /** A text that a shell will read. */
  | { readonly kind: "shell"; readonly text: string; readonly in: Surroundings };

export function judged(accessClass: AccessClass, rule: string, why: string, more: Partial<Judgement> = {}): Judgement {
  return { class: accessClass, rule, why, touches: [], runs: [], ...more };
}

/** The shell sets a variable. Programs see it only where the environment has one of that name already. */
export function setting(name: string): Touch {
  return { use: "set", class: "read", lookup: { what: "variable", path: name }, recursive: false };
}

export function high(rule: string, why: string, more: Partial<Judgement> = {}): Judgement {
  return judged("high", rule, why, more);
}
