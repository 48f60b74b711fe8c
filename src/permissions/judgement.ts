import type { AccessClass, Touch } from "../engine/permission.ts";
import type { Arg, Printed } from "./programs/arg.ts";

/** Where a command runs, and its input. */
export interface Surroundings {
  /** Every possible working directory, absolute; `undefined` if unknown. */
  readonly folders: readonly string[] | undefined;
  readonly home: string;
  /** If `folders` is unknown: patterns for possible folders. They can only raise the class. */
  readonly near?: readonly string[];
  /** Those of them that a `cd` named. */
  readonly entered?: readonly string[];
  /** Started by another program, so it is not a shell builtin. */
  readonly isExternal?: boolean;
  /** The paths that the previous part of the pipeline prints. */
  readonly input: Printed | undefined;
  /** Variables set for it that are not known to be harmless. */
  readonly variables?: readonly string[];
}

/** The judgement of one simple command. */
export interface Judgement {
  readonly class: AccessClass;
  readonly rule: string;
  readonly why: string;
  readonly touches: readonly Touch[];
  /** Commands it runs in turn. */
  readonly runs: readonly Inner[];
  readonly prints?: Printed | undefined;
  /** Paths may resolve differently afterwards. */
  readonly makesLinks?: boolean;
  /** It changes the content of files, but not which files exist. */
  readonly keepsNames?: boolean;
  /** Variables it exports to all later commands. */
  readonly exports?: readonly string[];
}

export type Inner =
  /** A command as words. */
  | { readonly kind: "words"; readonly args: readonly Arg[]; readonly in: Surroundings }
  /** A script for a shell. */
  | { readonly kind: "shell"; readonly text: string; readonly in: Surroundings };

export function judged(accessClass: AccessClass, rule: string, why: string, more: Partial<Judgement> = {}): Judgement {
  return { class: accessClass, rule, why, touches: [], runs: [], ...more };
}

/** The shell sets a variable. Programs see it only if the environment already has one of that name. */
export function setting(name: string): Touch {
  return { use: "set", class: "read", lookup: { what: "variable", path: name }, recursive: false };
}

export function high(rule: string, why: string, more: Partial<Judgement> = {}): Judgement {
  return judged("high", rule, why, more);
}
