import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Received } from "../../fakes/rpc/wire.ts";
import type { Run } from "../../replay/trace.ts";
import { readTrace, traceNames, writesOf } from "../../replay/trace.ts";
import { expectedTurns } from "./trace-oracle.ts";
import { playScript } from "./trace-player.ts";
import type { Deviation, Scene } from "./trace-script.ts";
import { beforehand, isState, messageOf, scriptOf } from "./trace-script.ts";
import { brokenPieces, expectedOf, seenIn } from "./trace-seen.ts";

/*
 * Replays the traces' servers to the SDK, which does what the recorded client did. At any pace, each turn ends once
 * with its last message's text, and nothing is left over.
 */

const names = traceNames();

/** Cases in which the SDK cannot do what the client did. All server lines are played, in order. */
const deviations: Readonly<Record<string, Partial<Record<Deviation, number>>>> = {
  // Requests before a session: the SDK has one from the start, and the recorded opening goes through call().
  "02_before_init": { "opened beforehand": 1 },
  "02_envelope": {
    "opened beforehand": 1,
    // Strings, numbers, lists, JSON over several lines, two messages on one line, messages without a method.
    "left out: a line that is no message": 19,
    "left out: a notification": 2,
    "left out: an answer to nothing": 3,
    "sent with a right envelope": 16,
    // Two requests with one id.
    "sent only when the one before has its answer": 1,
    "sent without what it has no option for": 1,
  },
  // outputFormat
  "03_messages": { "sent without what it has no option for": 1 },
  "03_queue_interrupt": { "said into the turn that runs, by call()": 1 },
  "03_queue_streaming": { "sent only when the turn before has ended": 2 },
  "03_queue_tool": { "said into the turn that runs, by call()": 1 },
  // Without params.
  "07_int_idle": { "sent with a right envelope": 1 },
  // Given by the handler after the interrupt that answered for it.
  "07_int_permission": { "an answer that came too late is not sent": 1 },
};

/** Errors for lines that the SDK did not send; no other warnings. */
const warnings: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "02_envelope": { "The backend: Invalid JSON": 11, "The backend: Invalid JSON-RPC message": 9 },
};

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

describe("from every trace", () => {
  test.each(names)("%s", async (name) => {
    for (const run of readTrace(name).runs) {
      const { scenes } = scriptOf(run);
      const played = await playScript(scenes);
      expect(seenIn(played)).toEqual(expectedOf(run, scenes));
      expect(played.turns.flatMap(brokenPieces)).toEqual([]);
      expect(await playScript(scenes, { pace: "one by one" })).toEqual(played);
    }
  });

  test("even if the caller only wants the results", async () => {
    for (const [, scenes] of runs()) {
      const { turns, ...others } = await playScript(scenes);
      const expected = { ...others, turns: turns.map((turn) => ({ ...turn, events: [] })) };
      expect(await playScript(scenes, { wish: "result" })).toEqual(expected);
    }
  });

  test("even if the caller closes the session at the end", async () => {
    for (const [run, scenes] of runs()) {
      const { turns, end, ...others } = expectedOf(run, scenes);
      const closed = turns.map((turn) => (turn.error === end.after ? { ...turn, error: "ClosedError" } : turn));
      const expected = {
        ...others,
        turns: closed,
        end: { reason: "The connection was closed.", after: "ClosedError" },
      };
      expect(seenIn(await playScript(scenes, { ending: "closed" }))).toEqual(expected);
    }
  });
});

describe("a trace's events are known", () => {
  const telling = [
    "04_parallel_once",
    "05_ask_ok",
    "06_exit_proceed_once",
    "07_int_streaming",
    "10_stream_cut",
    "11_reasoning",
  ];
  test.each(telling)("%s", async (name) => {
    const [run] = readTrace(name).runs;
    const { events } = await playScript(scriptOf(run as Run).scenes);
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    const file = fileURLToPath(new URL(`./trace-events/${name}.jsonl`, import.meta.url));
    if (process.env.TINMAN_WRITE_GOLDEN === "1") await writeFile(file, text);
    expect(text).toBe(await readFile(file, "utf8"));
  });
});

describe("detects planted faults", () => {
  const [run] = readTrace("00_smoke").runs as readonly [Run];
  const { scenes } = scriptOf(run);
  const lastIdle = scenes
    .flatMap((one) => (one.by === "server" && isState(one.message, "idle") ? [one.message] : []))
    .at(-1);
  const isNotice = (type: string) => (message: Received) => message.params?.notification?.type === type;
  const spoilt: readonly (readonly [
    string,
    (message: Received) => boolean,
    (message: Received) => Received | undefined,
  ])[] = [
    ["a turn that does not end", (message) => message === lastIdle, () => undefined],
    ["a result that does not come", isNotice("tool_result"), () => undefined],
    ["a message that does not come", (message) => messageOf(message).role === "user", () => undefined],
    ["another text", isNotice("create_message"), (message) => withText(message, "done now", "done then")],
    ["another input", isNotice("create_message"), (message) => withText(message, "echo hi", "echo ho")],
    [
      "another model",
      ({ result }) => result?.settings !== undefined,
      (message) => withText(message, "custom:Fake-0", "other"),
    ],
  ];
  test.each(spoilt)("%s", async (_, isIt, change) => {
    const changed = scenes.flatMap((scene): readonly Scene[] => {
      if (scene.by !== "server" || !isIt(scene.message)) return [scene];
      const message = change(scene.message);
      return message === undefined ? [] : [{ ...scene, message }];
    });
    expect(seenIn(await playScript(changed))).not.toEqual(expectedOf(run, scenes));
  });

  test("a missing line of the SDK", async () => {
    const more = scenes.flatMap((scene): readonly Scene[] => (scene.by === "sdk" ? [scene, scene] : [scene]));
    await expect(playScript(more)).rejects.toThrow("The SDK did not send what it should");
  });

  test("an extra line of the SDK", async () => {
    const last = scenes.findLastIndex(({ by }) => by === "sdk");
    const { left } = await playScript(scenes.slice(0, last));
    expect(left).toEqual([expect.stringContaining("sent: ")]);
  });
});

function runs(): readonly (readonly [Run, readonly Scene[]])[] {
  return names.flatMap((name) => readTrace(name).runs.map((run) => [run, scriptOf(run).scenes] as const));
}

/** The response to a prompt sent in a turn, which the SDK sends only after it. */
function isMoved({ answers }: Extract<Scene, { by: "server" }>, scenes: readonly Scene[]): boolean {
  const act = scenes.findIndex((one) => one.by === "client" && one.key === answers);
  const sent = scenes.findIndex((one) => one.by === "sdk" && one.key === answers);
  const scene = scenes[act];
  return scene?.by === "client" && scene.act.type === "prompt" && sent > act + 1;
}

function clientLines({ steps }: Run): number {
  const writes = steps.flatMap((step) => (step.by === "client" ? writesOf(step.sent) : []));
  const lines = Buffer.concat(writes).toString().split("\n");
  return lines.filter((line) => line.trim() !== "").length;
}

function withText(message: Received, before: string, after: string): Received {
  return JSON.parse(JSON.stringify(message).replaceAll(before, after)) as Received;
}

test("plays a known number of lines", () => {
  const all = runs();
  const turns = all.flatMap(([run]) => expectedTurns(run));
  const acts = all.flatMap(([, scenes]) => scenes.flatMap((one) => (one.by === "client" ? [one.act.type] : [])));
  expect({
    traces: names.length,
    runs: all.length,
    acts: counted(acts),
    ends: counted(turns.map(({ error, status }) => error ?? status ?? "")),
    calls: turns.flatMap(({ calls }) => Object.keys(calls)).length,
    results: turns.flatMap(({ results }) => Object.keys(results)).length,
    texts: turns.filter(({ text }) => text !== undefined && text !== "").length,
  }).toEqual({
    traces: 41,
    runs: 45,
    acts: {
      ...{ create: 43, resume: 2, prompt: 108, interrupt: 4, permission: 32, question: 2, settings: 29, rename: 2 },
      ...{ tools: 2, models: 2, call: 179, nothing: 24 },
    },
    ends: {
      ...{ completed: 95, interrupted: 6, failed: 3, BackendGoneError: 3 },
      "-32600 add user message: Invalid request format": 1,
    },
    calls: 63,
    results: 61,
    texts: 99,
  });
});

test("every line of a trace has its place, and the server's lines keep their order", () => {
  for (const [run, scenes] of runs()) {
    const isLate = (scene: Scene) => scene.by === "server" && isMoved(scene, scenes);
    const said = scenes.flatMap((one) => (one.by === "server" && one.answers !== beforehand ? [one] : []));
    const lines = run.steps.flatMap((step) => (step.by === "server" ? [step.message] : []));
    const late = said.filter(isLate).map(({ message }) => message);
    const inOrder = said.filter((one) => !isLate(one)).map(({ message }) => message);
    expect(inOrder).toEqual(lines.filter((message) => !late.includes(message)));
    expect(late.every((message) => lines.includes(message))).toBe(true);
    const acts = scenes.filter(({ by, key }: Scene & { key?: number }) => by === "client" && key !== beforehand);
    expect(acts.length).toBe(clientLines(run));
  }
});

test("every deviation from the client is known", () => {
  const found = names.map((name) => {
    const all = readTrace(name).runs.flatMap((run) => scriptOf(run).deviations);
    return [name, counted(all)] as const;
  });
  expect(Object.fromEntries(found.filter(([, one]) => Object.keys(one).length > 0))).toEqual(deviations);
});

test("every warning is known", async () => {
  const found: Record<string, Readonly<Record<string, number>>> = {};
  for (const name of names) {
    const all: string[] = [];
    for (const run of readTrace(name).runs) all.push(...(await playScript(scriptOf(run).scenes)).warnings);
    if (all.length > 0) found[name] = counted(all);
  }
  expect(found).toEqual(warnings);
});

function counted<T extends string>(words: readonly T[]): Partial<Record<T, number>> & Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts as Partial<Record<T, number>> & Readonly<Record<string, number>>;
}
