import type { Random } from "../fakes/seeded-random.ts";
import { givenSeed, isFullRun } from "../full-run.ts";

/** The seed of a run: fixed for a short one, random for a full one. */
export const firstSeed = givenSeed ?? (isFullRun ? Math.floor(Math.random() * 1e9) : 1);

const bytesOf = (...bytes: readonly number[]): Buffer => Buffer.from(bytes);

/** Bytes that readers have stumbled over. */
const nastyBytes: readonly Buffer[] = [
  bytesOf(0),
  bytesOf(0xff),
  bytesOf(0xc0, 0x80),
  bytesOf(0xed, 0xa0, 0x80),
  bytesOf(0xf4, 0x90, 0x80, 0x80),
  bytesOf(0xe2, 0x82),
  bytesOf(0x1b, 0x5b, 0x32, 0x4a),
  ...[
    "\uFEFF",
    "\u2028",
    "\u2029",
    "\u0085",
    "\u00A0",
    "\r",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\\",
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
  ],
  ...[
    ":",
    "- ",
    "# ",
    "&a ",
    "*a",
    "!!js ",
    "\\ud800",
    "\\u0000",
    "\\u2028",
    "é",
    "\u{1F600}",
    "0",
    "-",
    "1e400",
    "null",
  ],
].map((each) => (typeof each === "string" ? Buffer.from(each) : each));

type ByteChange = (bytes: Buffer, at: number, length: number, random: Random) => Buffer;

const splice = (bytes: Buffer, at: number, gone: number, ...added: readonly Buffer[]): Buffer =>
  Buffer.concat([bytes.subarray(0, at), ...added, bytes.subarray(at + gone)]);

const byteChanges: readonly ByteChange[] = [
  (bytes, at, _, random) => splice(bytes, at, 1, bytesOf((bytes[at] ?? 0) ^ (1 << random.below(8)))),
  (bytes, at, _, random) => splice(bytes, at, 1, bytesOf(random.below(256))),
  (bytes, at, _, random) => splice(bytes, at, 0, random.pick(nastyBytes)),
  (bytes, at, length, random) => splice(bytes, at, length, random.pick(nastyBytes)),
  (bytes, at, length) => splice(bytes, at, length),
  (bytes, at, length) => splice(bytes, at, 0, bytes.subarray(at, at + length)),
  (bytes, at, length, random) => splice(bytes, random.below(bytes.length + 1), 0, bytes.subarray(at, at + length)),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => bytes.subarray(at),
];

/** One to three changes without regard to the bytes' meaning. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let changed = bytes;
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const at = random.below(changed.length + 1);
    const length = 1 + random.below(random.chance(0.8) ? 4 : 400);
    changed = random.pick(byteChanges)(changed, at, length, random);
  }
  return changed;
}

/** JSON as text, which can have duplicate keys and out-of-range numbers. */
type Written = { text: string } | { items: Written[] } | { entries: [key: string, value: Written][] };

function nested(random: Random): string {
  const levels = random.pick([20, 600, 6_000]);
  return random.chance(0.5)
    ? "[".repeat(levels) + "]".repeat(levels)
    : `${'{"a":'.repeat(levels)}0${"}".repeat(levels)}`;
}

const oddWords = [
  "",
  " ",
  "\n",
  ".",
  "..",
  "/",
  "~",
  "../../../etc/passwd",
  "C:\\",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "root",
  "null",
  "undefined",
  "NaN",
  "-1",
  "true",
  "%s%n",
  "$HOME",
  "{{user}}",
  "\u0000",
  "\u2028\u2029",
  "\uFEFF",
  "\ud800",
  "\udfff\ud800",
  "\u202Egpj",
  "\u{1F600}",
  "\u001b[2J",
];

const oddNumbers = ["0", "-0", "-1", "1", "1.5", "1e400", "-1e400", "1e-400", "9007199254740993", "2147483648"];
const noJson = [
  "NaN",
  "Infinity",
  "undefined",
  "'a'",
  "01",
  "0x1f",
  "+1",
  ".5",
  "1.",
  "[1,]",
  "{a:1}",
  "/**/1",
  "tru",
  "",
];

function oddText(random: Random): string {
  const kind = random.below(20);
  if (kind < 4) return random.pick(oddNumbers);
  if (kind < 10) return JSON.stringify(random.pick(oddWords));
  if (kind < 12) return random.pick(["null", "true", "false"]);
  if (kind < 14) return random.pick(["[]", "{}", "[[]]", "[{}]", "[null]", '{"":""}']);
  if (kind < 15)
    return `"${random.pick(["\\ud800", "\\u0000", "\u2028", "\\/", "\\u005f_proto__", "\\x41", "\t", "\u0001"])}"`;
  if (kind < 16)
    return JSON.stringify(random.pick(["x", "é", "\u{1F600}", '"']).repeat(random.pick([300, 3_000, 30_000])));
  if (kind < 17) return nested(random);
  if (kind < 18) return random.pick(noJson);
  return `{${JSON.stringify(random.pick(["__proto__", "constructor", "prototype"]))}:{"polluted":${random.pick(["1", '{"polluted":1}'])}}}`;
}

function writtenOf(value: unknown): Written {
  if (Array.isArray(value)) return { items: value.map(writtenOf) };
  if (typeof value !== "object" || value === null) return { text: JSON.stringify(value) ?? "null" };
  return { entries: Object.entries(value).map(([key, part]) => [key, writtenOf(part)]) };
}

function textOf(written: Written): string {
  if ("text" in written) return written.text;
  if ("items" in written) return `[${written.items.map(textOf).join(",")}]`;
  return `{${written.entries.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(",")}}`;
}

/** All containers inside, outer ones more often, because most is decided there. */
function holdersIn(written: Written): Written[] {
  if ("text" in written) return [];
  const parts = "items" in written ? written.items : written.entries.map(([, value]) => value);
  return [written, ...parts.flatMap(holdersIn)];
}

function renamed(random: Random, key: string): string {
  return random.pick([key.toUpperCase(), `${key} `, ` ${key}`, key.slice(1), `${key}s`, random.pick(oddWords)]);
}

function changeEntries(random: Random, entries: [string, Written][], other: () => Written): void {
  const at = random.below(entries.length);
  const [key, value] = entries[at] ?? ["", { text: "null" }];
  switch (random.below(7)) {
    case 0:
      entries.splice(at, 1);
      break;
    case 1:
      entries.splice(random.below(entries.length + 1), 0, [key, random.chance(0.5) ? value : other()]);
      break;
    case 2:
      entries[at] = [renamed(random, key), value];
      break;
    case 3:
      entries.push([random.pick(oddWords), other()]);
      break;
    case 4:
      entries[at] = [key, { items: [value] }];
      break;
    default:
      entries[at] = [key, other()];
  }
}

function changeItems(random: Random, items: Written[], other: () => Written): void {
  const at = random.below(items.length + 1);
  const item = items[at] ?? other();
  const change = random.below(4);
  if (change === 0) items.splice(at, 1);
  else if (change === 1)
    items.splice(
      at,
      0,
      ...Array.from({ length: textOf(item).length < 500 ? random.pick([1, 2, 200]) : 1 }, () => item),
    );
  else items.splice(at, 1, other());
}

/** One to three changes to a value's content: keys, types, sizes. The result is nearly always JSON. */
export function mutateJson(random: Random, value: unknown): string {
  const whole = { items: [writtenOf(value)] };
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const [, ...inside] = holdersIn(whole);
    const other = (): Written =>
      inside.length > 0 && random.chance(0.2) ? { text: textOf(random.pick(inside)) } : { text: oddText(random) };
    const holder = inside[random.below(random.chance(0.5) ? Math.min(3, inside.length) : inside.length)];
    if (holder === undefined || random.chance(0.02)) whole.items[0] = other();
    else if ("entries" in holder) changeEntries(random, holder.entries, other);
    else if ("items" in holder) changeItems(random, holder.items, other);
  }
  return textOf(whole.items[0] ?? { text: "null" });
}

/** Everything reachable through any object: nothing may be added to it. */
export function sharedByAll(): readonly string[] {
  return [Object.prototype, Array.prototype, Function.prototype, String.prototype].flatMap((each) =>
    Reflect.ownKeys(each).map(String),
  );
}
