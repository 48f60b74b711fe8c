import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bench } from "../e2e/tinman.ts";
import { strict, strictOld } from "../fakes/rpc/sdk-strict.ts";
import type { Received, Wire } from "../fakes/rpc/wire.ts";
import { openWire } from "../fakes/rpc/wire.ts";
import type { Random } from "../fakes/seeded-random.ts";
import { randomFrom } from "../fakes/seeded-random.ts";
import { answerName, dueFor, faultOf } from "./rpc-law.ts";
import type { Known } from "./rpc-lines.ts";
import { lineFor } from "./rpc-lines.ts";

export interface RunOptions {
  readonly seed: number;
  readonly lines: number;
  readonly later: boolean;
  /** `script:…`; this model answers whatever the client requests. */
  readonly model: string;
}

export interface Told {
  /** Lines by outcome: a code, a result, or the reason for silence. */
  readonly tally: ReadonlyMap<string, number>;
  /** The program's memory in bytes, at intervals of lines; empty if the system does not report it. */
  readonly resident: readonly number[];
  /** The live memory in bytes, every second. */
  readonly live: readonly number[];
  /** Open files, at the same intervals. */
  readonly open: readonly number[];
  readonly code: number | null;
  readonly stderr: string;
  /** How the last turn ended, after everything. */
  readonly lastTurn: unknown;
}

/** Number of lines written at once: few let turns reach a question, many arrive in between. */
const atOnce = [3, 8, 20, 80];
/** A limit that ends the program if something piles up. */
const smallHeap = "--max-semi-space-size=1 --max-old-space-size=64";
const probe = fileURLToPath(new URL("preload/live-memory.cjs", import.meta.url));
const envelope = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };

/**
 * Sends mutated lines, with its own request at intervals. Rejects, naming seed and lines, as soon as a line has no
 * response or one too many, or one violates the protocol.
 */
export async function fuzzProgram(bench: Bench, options: RunOptions): Promise<Told> {
  const { seed, lines, later, model } = options;
  const random = randomFrom(seed);
  const liveMemory = join(bench.home, "live-memory.txt");
  const wire = openWire(bench, {
    env: {
      TINMAN_MODEL: model,
      NODE_OPTIONS: `${smallHeap} --require ${JSON.stringify(probe)}`,
      LIVE_MEMORY: liveMemory,
      // Otherwise each thread keeps freed memory, and resident memory says less about use.
      MALLOC_ARENA_MAX: "1",
    },
    patienceMs: 30_000,
    forgets: true,
    ...(later ? { protocolVersion: "1.15.0" } : {}),
  });
  const ledger = createLedger(later);
  ledger.expect([request("first", "initialize_session", {})]);
  wire.subscribe(ledger.take);
  const resident: number[] = [];
  const open: number[] = [];
  let nth = 0;
  let batch: readonly Buffer[] = [];
  try {
    const { error } = await wire.request(
      "droid.initialize_session",
      { machineId: "m", cwd: bench.cwd },
      { id: "first" },
    );
    if (error !== undefined) throw new Error(error.message);
    while (nth < lines) {
      const length = Math.min(lines - nth, random.pick(atOnce));
      const known = ledger.known(bench.cwd, random.below(16));
      const noise = Array.from({ length }, () => lineFor(random, nth++, known));
      const { answer, prompt } = conversation(random, nth, known);
      batch = [...answer, ...noise, ...prompt];
      await send(wire, ledger, [...batch, request(`sentinel-${nth}`, "list_skills", {})]);
      await ledger.rest(wire);
      resident.push(residentBytes(wire.pid));
      open.push(openFiles(wire.pid));
    }
    batch = [];
    await send(wire, ledger, [
      request("last-1", "initialize_session", { machineId: "m", cwd: bench.cwd, restrictToolIds: ["LS"] }),
      request("last-2", "add_user_message", { text: "Are you there?", messageId: "last-turn" }),
    ]);
    const lastTurn = await ledger.ended(wire, "last-turn");
    wire.eof();
    const { code, stderr } = await wire.exit();
    const live = readFileSync(liveMemory, "utf8").trimEnd().split("\n").map(Number);
    return { tally: ledger.tally, resident, live, open, code, stderr, lastTurn };
  } catch (error) {
    wire.kill("SIGKILL");
    const sent = batch.map((line) => `  ${shown(line)}`).join("\n");
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}, up to line ${nth}: ${reason}\nsent last:\n${sent}`);
  }
}

/** A second client keeps working, because otherwise nearly all lines would meet an idle program. */
function conversation(random: Random, nth: number, { requestId }: Known) {
  const yes = { selectedOption: "proceed_once", cancelled: false, answers: ["This"] };
  const answer = Buffer.from(`${JSON.stringify({ ...envelope, type: "response", id: requestId, result: yes })}\n`);
  const prompt = request(`prompt-${nth}`, "add_user_message", { text: "Go on." });
  return { answer: random.chance(0.7) ? [answer] : [], prompt: random.chance(0.3) ? [prompt] : [] };
}

function request(id: string, method: string, params: object): Buffer {
  return Buffer.from(`${JSON.stringify({ ...envelope, type: "request", id, method: `droid.${method}`, params })}\n`);
}

async function send(wire: Wire, ledger: ReturnType<typeof createLedger>, batch: readonly Buffer[]): Promise<void> {
  ledger.expect(batch);
  const isSettled = wire.waitFor(() => ledger.isSettled(), "the answers");
  wire.sendRaw(Buffer.concat(batch));
  await isSettled.catch((error: unknown) => {
    throw new Error(`${ledger.missing()}\n${String(error)}`);
  });
  const { faults } = ledger;
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

/** Pending responses, received ones, and the program's own state. */
function createLedger(later: boolean) {
  const due = new Map<string, string[]>();
  const methods = new Map<string, string>();
  const tally = new Map<string, number>();
  const faults: string[] = [];
  const sessions: string[] = [];
  const openRequests = new Set<string>();
  const turnEnds = new Map<unknown, unknown>();
  let state: unknown = "idle";
  let lastRequest = "00000000-0000-4000-8000-000000000000";

  const count = (what: string): void => {
    tally.set(what, (tally.get(what) ?? 0) + 1);
  };
  const answered = (message: Received): void => {
    const name = answerName(message);
    const waiting = due.get(name);
    if (waiting === undefined) faults.push(`an answer to nothing: ${JSON.stringify(message).slice(0, 400)}`);
    waiting?.pop();
    if (waiting?.length === 0) due.delete(name);
    count(message.error === undefined ? "result" : String(message.error.code));
    const { sessionId, newSessionId } = message.result ?? {};
    for (const id of [sessionId, newSessionId]) if (typeof id === "string") sessions.push(id);
    if (sessions.length > 16) sessions.splice(0, sessions.length - 16);
  };

  return {
    tally,
    faults,
    take(message: Received): void {
      const wrong = (later ? strict : strictOld).message(message, methods);
      // Server entries are echoed as the client wrote them.
      faults.push(...wrong.filter((fault) => !/^result of \S+\.mcpServers/.test(fault)));
      const notice = message.params?.notification;
      if (notice?.type === "agent_turn_completed") turnEnds.set(notice.turnId, notice.reason);
      if (notice?.type === "droid_working_state_changed") state = notice.newState;
      if (notice?.type === "permission_resolved") openRequests.delete(String(notice.requestId));
      if (message.type === "request" && typeof message.id === "string") {
        lastRequest = message.id;
        openRequests.add(message.id);
        count(`(asked: ${message.method})`);
      }
      if (message.type !== "response") return;
      answered(message);
      const fault = faultOf(message);
      if (fault !== undefined) faults.push(`${fault}: ${JSON.stringify(message).slice(0, 400)}`);
    },
    expect(batch: readonly Buffer[]): void {
      methods.clear();
      for (const bytes of linesIn(Buffer.concat(batch))) {
        const owed = dueFor(bytes);
        if (owed.kind === "silence") {
          const isOpen = owed.id !== undefined && openRequests.has(owed.id);
          count(`silence: ${owed.why}${owed.why === "response" ? (isOpen ? " to what is open" : " to nothing") : ""}`);
          continue;
        }
        due.set(owed.name, [...(due.get(owed.name) ?? []), shown(bytes)]);
        if (owed.id === undefined || owed.method === undefined) continue;
        // Responses to two requests with one id are indistinguishable.
        methods.set(owed.id, methods.has(owed.id) ? "either" : owed.method);
      }
    },
    isSettled: () => due.size === 0 || faults.length > 0,
    missing: () => [...due].map(([name, lines]) => `no answer, ${name}: ${lines.join(" | ")}`).join("\n"),
    known: (cwd: string, nth: number): Known => ({
      cwd,
      sessionId: sessions[nth % Math.max(1, sessions.length)] ?? "none",
      requestId: lastRequest,
    }),
    /** Whatever was requested, the program finishes it, or asks back. */
    async rest(wire: Wire): Promise<void> {
      const isResting = (): boolean => state === "idle" || state === "waiting_for_tool_confirmation";
      if (!isResting()) await wire.waitFor(isResting, "an end of the turn, or a question");
    },
    async ended(wire: Wire, turnId: string): Promise<unknown> {
      if (!turnEnds.has(turnId)) await wire.waitFor(() => turnEnds.has(turnId), `the end of ${turnId}`);
      return turnEnds.get(turnId);
    },
  };
}

function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function shown(line: Uint8Array): string {
  const text = JSON.stringify(Buffer.from(line).toString("latin1"));
  return text.length > 400 ? `${text.slice(0, 250)}…${text.slice(-150)}` : text;
}

function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
  } catch {
    return 0;
  }
}

function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}
