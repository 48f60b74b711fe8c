import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import type { Exit, Notice, Received, Wire, WireOptions } from "../../fakes/rpc/wire.ts";
import { noticesIn, openWire } from "../../fakes/rpc/wire.ts";
import type { Bench, RunOptions } from "../tinman.ts";
import { lines, withoutOfflineLine } from "../tinman.ts";

export const dialects = ["early", "later"] as const;
export type Dialect = (typeof dialects)[number];

export const formats = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];

const laterVersion = "1.15.0";

/** A request as an object, so that a test can break it. */
export function requestIn(dialect: Dialect, id: string, method: string, params: object = {}): Record<string, unknown> {
  return {
    jsonrpc: "2.0",
    factoryApiVersion: "1.0.0",
    ...(dialect === "later" ? { factoryProtocolVersion: laterVersion } : {}),
    type: "request",
    id,
    method: `droid.${method}`,
    params,
  };
}

export function line(...request: Parameters<typeof requestIn>): string {
  return `${JSON.stringify(requestIn(...request))}\n`;
}

export function openDialect(bench: Bench, dialect: Dialect, options: WireOptions = {}): Wire {
  return openWire(bench, { ...options, ...(dialect === "later" ? { protocolVersion: laterVersion } : {}) });
}

export interface Talk {
  /** The lines as received, without their ends. */
  readonly raw: readonly string[];
  readonly received: readonly Received[];
  /** `rest`: what followed the last line feed. */
  readonly end: { rest: string; code: number | null; signal: NodeJS.Signals | null; stderr: string };
}

/** How a conversation ends if all is well. */
export const wellEnded: Talk["end"] = { rest: "", code: 0, signal: null, stderr: "" };

/** A client that writes bytes, cut anywhere, closes its side and reads until the program has exited. */
export async function talk(
  bench: Bench,
  pieces: readonly (string | Uint8Array)[],
  options: RunOptions & { readonly args?: readonly string[] } = {},
): Promise<Talk> {
  const { args = [], ...run } = options;
  const child = bench.start([...formats, ...args], run);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("The program was started without pipes.");
  let said = "";
  let complained = "";
  stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    complained += text;
  });
  // An ended program is detected by its exit.
  stdin.on("error", () => undefined);
  const closed = new Promise<Omit<Talk["end"], "rest">>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stderr: withoutOfflineLine(complained) }));
  });
  for (const [at, piece] of pieces.entries()) {
    // Far enough apart to arrive one by one.
    if (at > 0) await pause(15);
    await new Promise((resolve) => stdin.write(piece, resolve));
  }
  stdin.end();
  const end = await closed;
  const raw = said.split("\n");
  const rest = raw.pop() ?? "";
  return { raw, received: raw.map((line) => JSON.parse(line) as Received), end: { rest, ...end } };
}

/** Opens a session, and returns its id. */
export async function open(wire: Wire, bench: Bench, params: object = {}): Promise<string> {
  const { result } = await wire.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd, ...params });
  return String(result?.sessionId);
}

/** Sends a prompt without waiting for its turn. */
export async function prompt(wire: Wire, text: string, more: object = {}): Promise<void> {
  const { error } = await wire.request("droid.add_user_message", { text, ...more });
  if (error !== undefined) throw new Error(error.message);
}

/** Sends a prompt and waits until the program is idle; returns the notifications in between. */
export async function turn(wire: Wire, text: string): Promise<readonly Notice[]> {
  const from = wire.received.length;
  await prompt(wire, text);
  await wire.waitForNotice("droid_working_state_changed", from, { newState: "idle" });
  return noticesIn(wire.received.slice(from));
}

/** The stored events of a session. */
export async function logOf(bench: Bench, sessionId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const folder = join(bench.home, ".tinman", "sessions");
  const name = (await readdir(folder, { recursive: true })).find((path) => path.endsWith(`${sessionId}.jsonl`));
  if (name === undefined) throw new Error(`There is no log of ${sessionId}.`);
  return lines(await readFile(join(folder, name), "utf8"));
}

/** How a session's turns ended, according to its log. */
export async function endsIn(bench: Bench, sessionId: string): Promise<readonly unknown[]> {
  return (await logOf(bench, sessionId)).flatMap(({ type, reason }) => (type === "turn.ended" ? [reason] : []));
}

/** How a program exits if all is well. */
export const quiet: Exit = { code: 0, signal: null, stderr: "" };

/** The last messages of a turn: why it ended, and that nothing is running. */
export function endOf(reason: string): readonly object[] {
  return [
    expect.objectContaining({ type: "agent_turn_completed", reason }),
    { type: "droid_working_state_changed", newState: "idle" },
  ];
}

/** A scripted reply that runs a command, for as long as it takes. */
export function execute(command: string, more: object = {}): object {
  return { tool_calls: [{ name: "Execute", input: { command, timeout: 600, ...more } }] };
}

/** A command that prints its process id and then stays. */
export function lasting(name: string, before = ""): string {
  return `${before} echo $$ > ${name}.new; mv ${name}.new ${name}; sleep 600`;
}

export async function pidIn(bench: Bench, name: string): Promise<number> {
  while (!existsSync(join(bench.cwd, name))) await pause(10);
  return Number(await bench.read(name));
}

/** Resolves when the process is gone, or a zombie. */
export async function gone(pid: number): Promise<void> {
  for (;;) {
    const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
    if (status.slice(status.lastIndexOf(")") + 2).startsWith("Z")) return;
    await pause(20);
  }
}
