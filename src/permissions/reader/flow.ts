import type { CommandPart, Touch } from "../../engine/permission.ts";
import { group } from "../parts.ts";
import type { Printed } from "../programs/arg.ts";
import { either, type Folders } from "../shell/folders.ts";

/** The shell's possible folders afterwards: after success, and after failure. */
export interface Flow {
  readonly ok: Folders;
  readonly failed: Folders;
}

/** A judged part, the shell's possible folders after it, and the paths it prints. */
export interface Walked {
  readonly part: CommandPart;
  readonly flow: Flow;
  readonly prints?: Printed | undefined;
  /** The effect if something deletes all the names it prints. */
  readonly lists?: readonly Touch[] | undefined;
}

/** Thrown if a command has too many parts to examine. It then counts as not understood. */
export class TooMuch extends Error {}

const mostRounds = 20;

export function same(folders: Folders): Flow {
  return { ok: folders, failed: folders };
}

export function eitherOf({ ok, failed }: Flow): Folders {
  return either(ok, failed);
}

/** A loop body, which may run again in the folder it ended in. Repeats until no new folder appears. */
export function repeated(source: string, start: Folders, body: (folders: Folders) => Walked): Walked {
  let folders = start;
  for (let round = 0; round < mostRounds; round += 1) {
    const walked = body(folders);
    const after = either(folders, eitherOf(walked.flow));
    const isSettled = after === undefined ? folders === undefined : after.length === folders?.length;
    if (isSettled) return { part: group("loop", source, [walked.part]), flow: same(after) };
    folders = after;
  }
  throw new TooMuch();
}

/** A command after `&&` or `||`, which runs only if the previous one succeeded, or failed. */
export function joined(flow: Flow, operator: string, walk: (folders: Folders) => Walked): Walked {
  const isAnd = operator === "&&";
  const next = walk(isAnd ? flow.ok : flow.failed);
  const after = isAnd
    ? { ok: next.flow.ok, failed: either(flow.failed, next.flow.failed) }
    : { ok: either(flow.ok, next.flow.ok), failed: next.flow.failed };
  return { ...next, flow: after };
}
