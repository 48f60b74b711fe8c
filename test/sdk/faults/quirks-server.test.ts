import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionNotFoundError } from "../../../src/sdk/errors.ts";
import { createSession, spawnBackend } from "../../../src/sdk/node.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import { type Bench, createBench } from "../../e2e/tinman.ts";
import { isFullRun } from "../../full-run.ts";
import { createNaiveClient, type NaiveTurn, standOf } from "../fakes/naive-client.ts";
import { until } from "../fakes/stand-ins.ts";
import { seenOf } from "../traces/drawn-turns.ts";

/* The program itself, with its deliberate faults. */

const quirks = [
  ...["silent-cancel", "no-turn-end", "usage-after-idle", "early-idle", "restart-deltas", "repeated-tool-calls"],
  ...["late-settings", "duplicates", "unknown-types", "second-answer", "null-ids", "stray-lines"],
];

let bench: Bench;
let modelId: string;
beforeAll(async () => {
  bench = await createBench();
  const asks = { tool_calls: [{ name: "Execute", input: { command: "rm -f gone.txt", riskLevel: "high" } }] };
  const on = (user: string, reply: object) => ({ when: { user }, ...reply });
  modelId = await bench.script([
    on("plain", { reasoning: ["Hm", "mm."], text: ["The ", "answer", "."] }),
    on("allowed", { text: "Let me run it.", ...asks }),
    { when: { after_tool: "Execute" }, text: ["It ", "ran."] },
    on("refused", { text: "May I?", ...asks }),
    on("retried", { text: "Broken", error: "cut" }),
    on("retried", { text: [" off, ", "repaired."] }),
    on("failing", { error: { status: 400, message: "Not like this." } }),
    on("declined", { text: ["Rather ", "not."], stop: "refusal" }),
    on("stopped", { text: ["Beginning", " and more"], chunk_delay_ms: 60_000 }),
    on("last", { text: "Still here." }),
  ]);
});
afterAll(() => bench.remove());

const argsFor = (names: readonly string[]) => (names.length === 0 ? [] : ["--quirks", names.join(",")]);
const brokenImage = [{ type: "base64", mediaType: "image/png", data: "%" }];

/** A client's typical requests, and what it sees. */
async function dayWith(names: readonly string[]) {
  const allowed = { now: true };
  const session = await createSession({
    args: argsFor(names),
    env: bench.env,
    cwd: bench.cwd,
    modelId,
    autonomyLevel: "low",
    timeouts: { grace: 1_000 },
    onPermission: () => (allowed.now ? "proceed_once" : "cancel"),
  });
  async function told(prompt: string) {
    const turn = session.stream(prompt, { id: `t-${prompt}` });
    const events: TurnEvent[] = [];
    for await (const event of turn) {
      events.push(event);
      if (prompt === "stopped" && event.type === "text") await turn.interrupt();
    }
    const { events: seen, result } = seenOf(events, await turn.result);
    // The reason of an end is only in the messages of backends that send one.
    return { seen, result: { ...result, reason: "" } };
  }
  /** By turn, because ids vary. Not all report the number of attempts. */
  const namesOf = ({ seen, result }: Awaited<ReturnType<typeof told>>) => {
    const events = seen.filter(({ type }) => !["retry", "tool_progress", "end"].includes(String(type)));
    const ids = events.flatMap(({ type, id }) => (type === "message" ? [String(id)] : []));
    const renamed = ids.reduce((text, id, nth) => text.replaceAll(id, `m-${nth}`), JSON.stringify(events));
    return { events: JSON.parse(renamed) as object[], result };
  };

  try {
    const plain = namesOf(await told("plain"));
    const run = namesOf(await told("allowed"));
    allowed.now = false;
    const refused = namesOf(await told("refused"));
    const retried = namesOf(await told("retried"));
    const failing = namesOf(await told("failing"));
    // The error can come before the message whose deltas precede it.
    const { result: declined } = await told("declined");
    const [stopped, last] = await Promise.all([told("stopped"), told("last").then(namesOf)]);
    const lost = await session
      .call("load_session", { sessionId: "nobody" })
      .catch(({ name, code }: SessionNotFoundError) => ({ name, code }));
    const unread = await session
      .send("image", { images: brokenImage })
      .then(({ error }) => error?.message)
      .catch((error: Error) => error.message.replace("add user message: ", ""));
    const { settings, isBusy } = session;
    const ended = { plain, run, refused, retried, failing, declined, stopped: stopped.result, last };
    return { settings, ...ended, lost, unread, isBusy };
  } finally {
    await session.close();
  }
}

describe("a typical conversation", () => {
  let clean: Awaited<ReturnType<typeof dayWith>>;
  beforeAll(async () => {
    clean = await dayWith([]);
  });

  it("with a well-behaved backend is correct", () => {
    const ended = (prompt: string, text: string) => ({ status: "completed", reason: "", text, turnId: `t-${prompt}` });
    const results = [clean.plain, clean.run, clean.refused, clean.retried, clean.failing, clean.last];
    expect(results.map(({ result }) => result)).toEqual([
      ended("plain", "The answer."),
      ended("allowed", "It ran."),
      { ...ended("refused", "May I?"), status: "interrupted" },
      ended("retried", "Broken off, repaired."),
      {
        ...ended("failing", ""),
        status: "failed",
        error: { message: "Not like this.", type: "Error", code: "model_bad_request" },
      },
      ended("last", "Still here."),
    ]);
    expect(clean.run.events.map(({ type }: { type?: string }) => type)).toEqual([
      ...["message", "message", "tool_call", "tool_result", "message"],
    ]);
    expect(clean.declined).toEqual({
      ...ended("declined", "Rather not."),
      status: "failed",
      error: {
        message: "The model, or its provider, stopped answering after some text.",
        type: "Error",
        code: "model_refused",
      },
    });
    expect(clean.stopped).toEqual({ ...ended("stopped", "Beginning"), status: "interrupted" });
    expect(clean.lost).toEqual({ name: "SessionNotFoundError", code: -32004 });
    expect([clean.settings.autonomyLevel, clean.isBusy, typeof clean.unread]).toEqual(["low", false, "string"]);
  });

  const alone = quirks.filter((_, nth) => isFullRun || nth % 3 === 0);

  it.concurrent.each([...alone.map((name) => [name, [name]] as const), ["all of it", quirks] as const])(
    "is the same with %s",
    async (_, names) => {
      expect(await dayWith(names)).toEqual(clean);
    },
  );
});

describe("a first client fails", () => {
  const right: Omit<NaiveTurn, "usage"> = {
    text: "Let me run it.It ran.",
    messages: ["Let me run it.", "It ran."],
    calls: 1,
    results: 1,
  };
  const start = (name: string, endsWith?: "agent_turn_completed") =>
    createNaiveClient(spawnBackend({ args: argsFor([name]), env: bench.env, cwd: bench.cwd }), endsWith);
  const open = async (name: string, endsWith?: "agent_turn_completed") => {
    const client = await start(name, endsWith);
    await client.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd, modelId });
    return client;
  };

  it.concurrent.each<readonly [string, Partial<NaiveTurn>]>([
    ["early-idle", { messages: ["Let me run it."] }],
    ["duplicates", { messages: ["Let me run it.", "Let me run it.", "It ran.", "It ran."], results: 2 }],
    ["repeated-tool-calls", { calls: 2 }],
  ])("with %s", async (name, wrong) => {
    const client = await open(name);
    const { usage: _, ...turn } = await client.prompt("allowed");
    expect(turn).toEqual({ ...right, ...wrong });
    await client.close();
  });

  it("with usage-after-idle, which it misses", async () => {
    const client = await open("usage-after-idle");
    expect((await client.prompt("plain")).usage).toBeUndefined();
    await client.close();
  });

  it("with restart-deltas, of which it keeps all", async () => {
    const client = await open("restart-deltas");
    expect((await client.prompt("retried")).text).toBe("BrokenBroken off, repaired.");
    await client.close();
  });

  it.concurrent.each([
    ["unknown-types", /unknown notification/],
    ["stray-lines", /JSON/],
  ])("with %s, where it stops", async (name, words) => {
    const client = await start(name);
    const opened = client.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd, modelId });
    const turn = opened.then(() => client.prompt("plain"));
    await until(() => client.crash !== undefined);
    expect([await standOf(turn), client.crash]).toEqual(["pending", expect.stringMatching(words)]);
    await client.close();
  });

  it("with no-turn-end, for which it waits", async () => {
    const client = await open("no-turn-end", "agent_turn_completed");
    const turn = client.prompt("plain");
    await until(() => client.states.includes("idle"));
    expect(await standOf(turn)).toBe("pending");
    await client.close();
  });

  it("with null-ids, where it waits for an error that has come", async () => {
    const client = await open("null-ids");
    const request = client.request("droid.load_session", { sessionId: "nobody" });
    await client.request("droid.interrupt_session", {});
    expect(await standOf(request)).toBe("pending");
    await client.close();
  });

  it("with second-answer, where it counts a rejection as accepted", async () => {
    const client = await open("second-answer");
    expect(await client.request("droid.add_user_message", { text: "x", images: brokenImage })).toEqual({});
    await client.close();
  });
});
