import type { CommandPart } from "../core/permission.ts";
import type { Printed } from "./arg.ts";
import { either, type Folders } from "./folders.ts";
import { group } from "./parts.ts";

/** Where the shell may be afterwards: after success, and after failure. */
export interface Flow {
  readonly ok: Folders;
  readonly failed: Folders;
}

/** A part that was looked at, where the shell may be behind it, and the paths that it prints. */
export interface Walked {
  readonly part: CommandPart;
  readonly flow: Flow;
  readonly prints?: Printed | undefined;
}

/** Thrown when there is more than can be looked through; the command is then not understood. */
export class TooMuch extends Error {}

const mostRounds = 20;

export function same(folders: Folders): Flow {
  return { ok: folders, failed: folders };
}

export function eitherOf({ ok, failed }: Flow): Folders {
  return either(ok, failed);
}

/** A body that may run again where it ended: until no new folder comes up. */
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

/** Commands joined by `&&` and `||`: the next one runs only where the one before has succeeded, or failed. */
export function joined(flow: Flow, operator: string, walk: (folders: Folders) => Walked): Walked {
  const isAnd = operator === "&&";
  const next = walk(isAnd ? flow.ok : flow.failed);
  const after = isAnd
    ? { ok: next.flow.ok, failed: either(flow.failed, next.flow.failed) }
    : { ok: either(flow.ok, next.flow.ok), failed: next.flow.failed };
  return { ...next, flow: after };
}
