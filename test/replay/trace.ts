import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Received } from "../fakes/rpc/wire.ts";

/** What a client sent: one message, raw text, or bytes (base64), one write each. */
export type Sent =
  | { readonly message: Readonly<Record<string, unknown>> }
  | { readonly text: string }
  | { readonly writes: readonly string[] };

export type Step =
  | { readonly by: "client"; readonly sent: Sent }
  | { readonly by: "server"; readonly message: Received }
  | { readonly by: "driver"; readonly event: "end of input" | "kill" };

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

/** One process, from start to end. */
export interface Run {
  readonly steps: readonly Step[];
  readonly end: End;
}

export interface Trace {
  readonly name: string;
  readonly runs: readonly Run[];
}

interface Line {
  readonly dir: ">" | "<" | "!";
  readonly msg?: Received;
  readonly raw?: string | readonly string[];
  readonly event?: string;
  readonly code?: number | null;
  readonly signal?: string | null;
}

const folder = fileURLToPath(new URL("./traces/", import.meta.url));

export function traceNames(): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => basename(name, ".jsonl"))
    .sort();
}

export function readTrace(name: string): Trace {
  const runs: { steps: Step[]; end: End }[] = [];
  for (const text of readFileSync(`${folder}${name}.jsonl`, "utf8").split("\n")) {
    if (text === "") continue;
    const line = JSON.parse(text) as Line;
    if (line.event === "spawn") runs.push({ steps: [], end: { code: null, signal: null } });
    const run = runs.at(-1);
    if (run === undefined) throw new Error(`${name} does not begin with the start of a process.`);
    if (line.event === "exit") run.end = { code: line.code ?? null, signal: line.signal ?? null };
    else run.steps.push(...stepOf(line));
  }
  return { name, runs };
}

function stepOf({ dir, msg, raw, event }: Line): readonly Step[] {
  if (dir === "<" && msg !== undefined) return [{ by: "server", message: withoutCutMark(msg) }];
  if (dir === ">" && msg !== undefined) return [{ by: "client", sent: { message: msg } }];
  if (dir === ">" && typeof raw === "string") return [{ by: "client", sent: { text: raw } }];
  if (dir === ">" && typeof raw === "object") return [{ by: "client", sent: { writes: raw } }];
  if (event === "stdin-eof") return [{ by: "driver", event: "end of input" }];
  if (event === "SIGKILL by driver") return [{ by: "driver", event: "kill" }];
  return [];
}

/** The traces have only the start of long model lists; a text in place of a model says how many are missing. */
function withoutCutMark(message: Received): Received {
  const { result } = message;
  if (!Array.isArray(result?.availableModels)) return message;
  const availableModels = result.availableModels.filter((model) => typeof model !== "string");
  return { ...message, result: { ...result, availableModels } };
}

/** The bytes of a client line, by write. */
export function writesOf(sent: Sent): readonly Buffer[] {
  if ("message" in sent) return [Buffer.from(`${JSON.stringify(sent.message)}\n`)];
  return "text" in sent ? [Buffer.from(sent.text)] : sent.writes.map((piece) => Buffer.from(piece, "base64"));
}

/** Every client line that is one JSON object. */
export function clientMessages(steps: readonly Step[]): readonly Received[] {
  const writes = steps.flatMap((step) => (step.by === "client" ? writesOf(step.sent) : []));
  return Buffer.concat(writes).toString().split("\n").flatMap(objectIn);
}

function objectIn(line: string): readonly Received[] {
  try {
    const value: unknown = JSON.parse(line.replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? [value as Received] : [];
  } catch {
    return [];
  }
}
