import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Random } from "../fakes/seeded-random.ts";
import { mutateBytes, mutateJson } from "./mutate.ts";

/** The YAML examples of a documentation page. */
export function blocksOf(page: string): readonly string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../${page}`, import.meta.url)), "utf8");
  return [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = ""]) => block);
}

const bombs: readonly string[] = [
  `a: &a [x]\n${Array.from({ length: 30 }, (_, at) => `b${at}: &b${at} [${at === 0 ? "*a, *a" : `*b${at - 1}, *b${at - 1}`}]`).join("\n")}\n`,
  "a: &a [*a]\n",
  `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
  `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  `${"- ".repeat(5_000)}1`,
  `${"? ".repeat(2_000)}1`,
  Array.from({ length: 60_000 }, (_, at) => `k${at}: 1`).join("\n"),
  `model: "${"x".repeat(1_000_000)}"`,
  `model: ${"9".repeat(100_000)}`,
  `model: |\n${" x\n".repeat(100_000)}`,
  `${"&a ".repeat(1_000)}1`,
  "---\nmodel: a\n---\nmodel: b\n",
  "%YAML 9.9\n---\nmodel: a\n",
  "%TAG ! tag:evil,2000:\n--- !x\nmodel: a\n",
  "<<: {model: a}\n",
  "<<: &a {<<: *a}\n",
  "!!set {a, b}\n",
  "!!binary aGVsbG8=\n",
  "model: !!js/function 'function () {}'\n",
  "model: !!timestamp 2001-12-14t21:59:43.10-05:00\n",
  "__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\n",
  "? [a, b]\n: c\n? {a: 1}\n: d\n",
  "\u0000",
  "\uFEFF\uFEFFmodel: a",
];

const additions = [
  "<<: *a",
  "&a",
  "*a",
  "!!binary a",
  "!x 1",
  "? a",
  "- a",
  "---",
  "...",
  "%YAML 1.1",
  "__proto__: 1",
  "a: 1e400",
];

type LineChange = (lines: string[], at: number, random: Random) => void;
const lineChanges: readonly LineChange[] = [
  (lines, at) => lines.splice(at, 1),
  (lines, at) => lines.splice(at, 0, lines[at] ?? ""),
  (lines, at, random) => lines.splice(at, 1, `${" ".repeat(random.below(5))}${(lines[at] ?? "").trimStart()}`),
  (lines, at, random) => lines.splice(at, 0, `${" ".repeat(random.below(5))}${random.pick(additions)}`),
  (lines, at, random) => lines.splice(at, 1, `${lines[at]} ${random.pick(additions)}`),
  (lines, at) => lines.splice(at, 1, `\t${lines[at]}`),
  (lines, at, random) => lines.splice(random.below(lines.length + 1), 0, ...lines.splice(at, 1)),
];

/** A sample with changed bytes, lines or content; now and then a hostile one. */
export function mutateYaml(random: Random, samples: readonly string[]): Buffer {
  const sample = random.pick(samples);
  const kind = random.below(100);
  if (kind < 3) return Buffer.from(random.pick(bombs));
  if (kind < 8) return Buffer.from(sample);
  if (kind < 35) return mutateBytes(random, Buffer.from(sample));
  if (kind < 75) return Buffer.from(mutateJson(random, parse(sample)));
  const lines = sample.split("\n");
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    random.pick(lineChanges)(lines, random.below(Math.max(1, lines.length)), random);
  }
  return Buffer.from(lines.join("\n"));
}
