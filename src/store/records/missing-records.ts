import type { SeqRange } from "../../engine/ports.ts";

export interface Place {
  readonly seq: number;
  readonly line: number;
}

/**
 * Gaps between seqs, except those that damaged lines explain, one seq per line. A truncated end leaves no gap. `kept` and
 * `damagedLines` are sorted.
 */
export function missingRecords(
  kept: readonly Place[],
  unknown: readonly Place[],
  damagedLines: readonly number[],
): readonly SeqRange[] {
  const places = unknown.length === 0 ? kept : [...kept, ...unknown].sort((a, b) => a.seq - b.seq);
  const gaps: SeqRange[] = [];
  for (const [index, { seq, line }] of places.entries()) {
    const before = places[index - 1];
    const missing = before === undefined ? 0 : seq - before.seq - 1;
    if (before === undefined || missing <= 0) continue;
    const explained = countBelow(damagedLines, line) - countBelow(damagedLines, before.line);
    if (missing > explained) gaps.push({ from: before.seq + 1, to: seq - 1 });
  }
  return gaps;
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
