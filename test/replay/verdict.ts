import type { Found } from "./compare.ts";
import { compare } from "./compare.ts";
import { ownLineFaults } from "./own-lines.ts";
import type { Played } from "./player.ts";
import { explain } from "./reasons.ts";
import type { Trace } from "./trace.ts";

export interface Verdict {
  /** How often each reason was needed. */
  readonly counts: ReadonlyMap<string, number>;
  /** Differences with no reason or several, in full, and our lines that break a rule. */
  readonly faults: readonly string[];
}

export function judge(trace: Trace, played: Played): Verdict {
  const counts = new Map<string, number>();
  const faults: string[] = [];
  for (const found of compare(trace, played)) {
    const [name, ...more] = explain(found);
    if (name === undefined || more.length > 0) faults.push(tell(found, name === undefined ? [] : [name, ...more]));
    else counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const broken = trace.runs.flatMap((run, index) => ownLineFaults(run, played.runs[index]?.received ?? []));
  return { counts, faults: [...faults, ...broken.map((fault) => `${trace.name} ${fault}`)] };
}

function tell(found: Found, names: readonly string[]): string {
  const { what, kind, trace, turn, request } = found;
  const place = [turn && `in the turn of ${turn}`, request?.method && `for ${request.method} ${request.id}`];
  const values =
    found.what === "changed"
      ? [found.path, `theirs: ${JSON.stringify(found.theirs)}`, `ours: ${JSON.stringify(found.ours)}`]
      : [JSON.stringify(found.what === "extra" ? found.ours : found.theirs)];
  const fit = names.length === 0 ? "no reason" : `${names.length} reasons: ${names.join("; ")}`;
  const head = [trace, what, kind, ...place].filter((part) => part !== undefined && part !== "").join(" ");
  return [head, ...values, fit].join("\n    ");
}

/** The counts of all traces by reason: the content of `differences.txt`. */
export function report(reasons: readonly string[], verdicts: ReadonlyMap<string, Verdict>): string {
  const sections = reasons.map((reason) => {
    const found = [...verdicts].flatMap(([trace, { counts }]) => {
      const count = counts.get(reason);
      return count === undefined ? [] : [{ trace, count }];
    });
    const total = found.reduce((sum, { count }) => sum + count, 0);
    return [`${reason}: ${total}`, ...found.map(({ trace, count }) => `  ${trace} ${count}`)].join("\n");
  });
  return `${sections.join("\n\n")}\n`;
}
