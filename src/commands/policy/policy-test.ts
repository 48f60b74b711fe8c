import { readDocument } from "../../config/load.ts";
import { AgentError } from "../../engine/errors.ts";
import { accessClasses } from "../../engine/permission.ts";
import type { Autonomy } from "../../engine/settings.ts";
import { autonomyLevels } from "../../engine/settings.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import { isRecord } from "../../text/values.ts";
import type { JudgedCommand, Verdict } from "./policy.ts";
import { createJudge, shown } from "./policy.ts";

const mostCases = 10_000;
const mostShown = 200;

const classes = [...accessClasses, "refused"] as const;
const expectations = ["runs", "asks", "denied", "refused"] as const;
const keys = ["command", "class", "level", "expect", "why"] as const;

interface Case {
  readonly command: string;
  readonly class?: (typeof classes)[number];
  readonly at?: { readonly level: Autonomy; readonly expect: Verdict };
}

interface Failure {
  /** The number of the case, from 1. */
  readonly case: number;
  readonly command: string;
  readonly expected: string;
  readonly got: string;
  readonly rule: string;
  readonly because: string;
}

/** `tinman policy test`: exit code 1 if a command is judged differently than the file says. */
export async function testPolicy(
  file: string,
  options: { readonly cwd?: string; readonly json?: boolean; readonly sandbox?: "off" | "required" },
  io: Io,
): Promise<number> {
  const cases = casesIn(await readDocument(file), file);
  const judge = await createJudge(options.cwd, { mode: options.sandbox ?? "off", isAssumed: true }, io);
  const failures: Failure[] = [];
  for (const [index, one] of cases.entries()) {
    const failure = failureOf(one, index + 1, await judge(one.command));
    if (failure === undefined) continue;
    failures.push(failure);
    if (options.json !== true) await io.stdout.write(`${failureLine(failure)}\n`);
  }
  const failed = failures.length;
  const passed = cases.length - failed;
  await io.stdout.write(
    options.json === true
      ? `${JSON.stringify({ passed, failed, failures })}\n`
      : `${passed} passed, ${failed} failed\n`,
  );
  return failed === 0 ? exitCodes.success : exitCodes.failed;
}

function failureOf(one: Case, number: number, judged: JudgedCommand): Failure | undefined {
  const { rule, because } = judged;
  const common = { case: number, command: one.command, rule, because };
  if (one.class !== undefined && one.class !== judged.class) {
    return { ...common, expected: one.class, got: judged.class };
  }
  if (one.at === undefined) return undefined;
  const { level, expect } = one.at;
  const got = judged.at(level);
  if (needsYes(got) === needsYes(expect)) return undefined;
  return { ...common, expected: `${expect} at ${level}`, got, because: judged.denied ?? because };
}

/** Whether a user can be asked depends on the run, so asking and denying count as the same. */
function needsYes(verdict: Verdict): Verdict {
  return verdict === "denied" ? "asks" : verdict;
}

function failureLine({ case: number, command, expected, got, because }: Failure): string {
  const what = `expected ${expected}, got ${got}: ${shown(command, mostShown)}`;
  return `case ${number}: ${what}, because ${shown(because, 500)}`;
}

function casesIn(value: unknown, file: string): readonly Case[] {
  const fail = (where: string, why: string): never => {
    throw new AgentError("usage", `${file}: ${where} ${why}`);
  };
  const unknownKey = (object: object, known: readonly string[]): string | undefined =>
    Object.keys(object).find((key) => !known.includes(key));
  if (!isRecord(value)) return fail("the file", "must contain an object with cases");
  const extra = unknownKey(value, ["cases"]);
  if (extra !== undefined) return fail(shown(extra, 40), "is unknown; available: cases");
  const { cases } = value;
  if (!Array.isArray(cases)) return fail("cases", "must be a list");
  if (cases.length === 0) return fail("cases", "is empty, so nothing would be tested");
  if (cases.length > mostCases) return fail("cases", `has more than ${mostCases} entries`);

  return cases.map((one: unknown, index): Case => {
    const place = `cases[${index}]`;
    if (!isRecord(one)) return fail(place, "must be an object with a command");
    const odd = unknownKey(one, keys);
    if (odd !== undefined) return fail(`${place}.${shown(odd, 40)}`, `is unknown; available: ${keys.join(", ")}`);
    const { command, class: wanted, level, expect, why } = one;
    if (typeof command !== "string") return fail(`${place}.command`, "must be a string");
    if (why !== undefined && typeof why !== "string") return fail(`${place}.why`, "must be a string");
    const among = <T extends string>(name: string, given: unknown, known: readonly T[]): T =>
      known.find((word) => word === given) ?? fail(`${place}.${name}`, `must be one of ${known.join(", ")}`);
    if ((level === undefined) !== (expect === undefined)) return fail(place, "must have level and expect together");
    if (wanted === undefined && level === undefined) return fail(place, "must have a class, or level and expect");
    return {
      command,
      ...(wanted === undefined ? {} : { class: among("class", wanted, classes) }),
      ...(level === undefined
        ? {}
        : { at: { level: among("level", level, autonomyLevels), expect: among("expect", expect, expectations) } }),
    };
  });
}
