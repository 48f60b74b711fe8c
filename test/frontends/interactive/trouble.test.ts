import { expect, test } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import type { ModelEvent, SessionStore } from "../../../src/engine/ports.ts";
import { createKit, type FakeReply, says, until } from "../../fakes/kit.ts";
import { createMemoryStore } from "../../fakes/memory-store.ts";
import { isFinal, options, type Served, type Spoken, serve, textIn } from "./served.ts";

/** A store whose logs cannot be read while `isBroken`. */
function readableStore(): { readonly store: SessionStore; isBroken: boolean } {
  const store = createMemoryStore();
  const trouble = {
    isBroken: false,
    store: {
      ...store,
      read: async (id: string, after?: number) => {
        if (trouble.isBroken) throw new AgentError("storage_failed", "Cannot read /home/u/.tinman/sessions/x.jsonl.");
        return store.read(id, after);
      },
    },
  };
  return trouble;
}

/** A model that sends one text, and the next on demand. */
function inTwo(first: string, second: string): { reply: FakeReply; goOn: () => void } {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const reply = async function* (_: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield { type: "text", text: first };
    await Promise.race([gate, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
    yield { type: "text", text: second };
    yield { type: "end", stop: "end" };
  };
  return { reply, goOn: () => goOn() };
}

/** Until the session has no holds left, and its time is over. */
async function isLetGo({ kit, pool }: Served, sessionId: string): Promise<boolean> {
  await until(() => kit.clock.waiting > 0);
  kit.clock.advance(1_800_000);
  await until(() => pool.get(sessionId) === undefined);
  return true;
}

const internal = { code: -32603, message: "Internal error", data: { errorId: expect.any(String) } };

test("a failed resume of an unreadable session leaves no hold", async () => {
  const trouble = readableStore();
  const { reply, goOn } = inTwo("Half", " and half");
  const served = serve([reply], {}, { store: trouble.store });
  const [owner, other] = [served.connect(), served.connect({ user: "ada", role: "admin" })];
  const sessionId = await owner.start();
  await owner.request("sendUserMessage", { sessionId, message: "x" });
  await owner.until(({ params }) => params?.chunk === "Half");
  trouble.isBroken = true;
  expect((await other.request("resumeSession", { sessionId })).error).toEqual(internal);
  trouble.isBroken = false;
  goOn();
  await owner.until(isFinal);
  expect(other.frames).toHaveLength(1);
  await owner.close();
  expect(await isLetGo(served, sessionId)).toBe(true);
  await other.close();
});

test("a listening client whose resumeSession fails keeps listening", async () => {
  const trouble = readableStore();
  const { reply, goOn } = inTwo("Half", " and half");
  const client = serve([reply], {}, { store: trouble.store }).connect();
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "x" });
  await client.until(({ params }) => params?.chunk === "Half");
  trouble.isBroken = true;
  expect((await client.request("resumeSession", { sessionId })).error).toEqual(internal);
  goOn();
  await client.until(isFinal);
  expect(textIn(client.frames)).toBe("Half and half");
  await client.close();
});

test("a running session that could not be read is opened by the next client", async () => {
  const trouble = readableStore();
  const { reply, goOn } = inTwo("Half", " and half");
  const served = serve([reply], {}, { store: trouble.store });
  const hold = await served.pool.create({
    cwd: "/ws",
    settings: { modelId: "fake", reasoningEffort: "none", autonomy: "off", mode: "auto", owner: "ann" },
  });
  const { id: sessionId } = hold.session;
  const { accepted } = hold.session.prompt([{ type: "text", text: "from elsewhere" }]);
  await accepted;
  await until(() => hold.session.snapshot().partial !== undefined);
  const client = served.connect();
  trouble.isBroken = true;
  for (const method of ["resumeSession", "sendUserMessage"]) {
    expect((await client.request(method, { sessionId, message: "x" })).error).toEqual(internal);
  }
  trouble.isBroken = false;
  hold.release();
  const { result } = await client.request("resumeSession", { sessionId, afterSeq: 2 });
  expect(result).toMatchObject({ running: true, waiting: [] });
  goOn();
  const frames = await client.until(isFinal);
  expect(frames.map(({ params }) => params?.chunk)).toEqual(["Half", " and half", ""]);
  await client.close();
  expect(await isLetGo(served, sessionId)).toBe(true);
});

test("requests after a stop are rejected: the session does not exist", async () => {
  const { reply } = inTwo("Half", "");
  const { connect } = serve([reply, says("never")]);
  const [client, other] = [connect(), connect()];
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "one" });
  await client.until(({ params }) => params?.chunk === "Half");
  await other.request("resumeSession", { sessionId, afterSeq: 3 });
  const send = (id: string): string =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "sendUserMessage", params: { sessionId, message: id } });
  client.raw(JSON.stringify({ jsonrpc: "2.0", id: "stop", method: "stopSession", params: { sessionId } }));
  for (let nth = 0; nth < 20; nth += 1) {
    client.raw(send(`client-${nth}`));
    other.raw(send(`other-${nth}`));
    await Promise.resolve();
  }
  for (const each of [client, other]) {
    await each.until(({ params }) => params?.status === 2);
    await each.request("echo", {});
    expect(endsOf(each)).toEqual(acknowledgedBy(client, other));
    expect(each.frames.filter(({ params }) => params?.status === 2)).toHaveLength(1);
    const behind = each.frames.slice(each.frames.findIndex(({ params }) => params?.status === 2) + 1);
    expect(behind.filter(({ method }) => method !== undefined)).toEqual([]);
  }
  await Promise.all([client.close(), other.close()]);
});

function endsOf({ frames }: Spoken): unknown[] {
  return frames
    .filter(isFinal)
    .map(({ params }) => params?.messageId)
    .sort();
}

function acknowledgedBy(...clients: readonly Spoken[]): unknown[] {
  return clients.flatMap(({ frames }) => frames.flatMap(({ result }) => result?.messageId ?? [])).sort();
}

test("a stopped session can be reopened while a slow client still reads it", async () => {
  const served = serve([says("x".repeat(3_000_000)), says("Again.")], {}, { model: { contextWindow: 9_000_000 } });
  const slow = served.connect();
  const sessionId = await slow.start();
  slow.pause();
  slow.raw(JSON.stringify({ jsonrpc: "2.0", id: "m", method: "sendUserMessage", params: { sessionId, message: "x" } }));
  const owner = served.connect();
  await until(() => served.kit.requests.length === 1 && served.pool.get(sessionId)?.isWorking === false);
  await owner.request("stopSession", { sessionId });
  await until(() => served.pool.get(sessionId) === undefined);
  const { result } = await owner.request("resumeSession", { sessionId });
  expect(result).toMatchObject({ sessionId, status: 1, running: false });
  expect(textIn(await owner.ask(sessionId, "again")).endsWith("Again.")).toBe(true);
  slow.goOn();
  await slow.until(({ params }) => params?.status === 2);
  await Promise.all([owner.close(), slow.close()]);
});

test("an acknowledgement never precedes earlier events, even for a client catching up", async () => {
  const store = createMemoryStore();
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const slow: SessionStore = {
    ...store,
    read: async (id, after) => gate.then(() => store.read(id, after)),
    create: async (first) => {
      const log = await store.create(first);
      return {
        append: (events, given) => new Promise(setImmediate).then(() => log.append(events, given)),
        release: () => log.release(),
      };
    },
  };
  const { connect } = serve([says("One."), says("Two.")], {}, { store: slow });
  const [client, other] = [connect(), connect()];
  const sessionId = await client.start();
  const send = (from: Spoken, id: string, method: string, params: object): void =>
    from.raw(JSON.stringify({ jsonrpc: "2.0", id, method, params: { sessionId, ...params } }));
  await other.request("cancel", { sessionId });
  send(other, "theirs", "sendUserMessage", { message: "theirs" });
  send(client, "mine", "sendUserMessage", { message: "mine" });
  send(client, "resume", "resumeSession", { afterSeq: 1 });
  await other.until(isFinal);
  await other.until(isFinal);
  goOn();
  await client.until(isFinal);
  await client.until(isFinal);
  const numbers = client.frames
    .slice(2)
    .flatMap(({ id, params, result }) => (id === "resume" ? [] : ((params ?? result)?.seq ?? [])));
  expect(numbers).toEqual([...numbers].sort((a, b) => Number(a) - Number(b)));
  expect(client.frames.find(({ id }) => id === "mine")?.result).toEqual({
    messageId: expect.any(String),
    status: 0,
    seq: expect.any(Number),
  });
  await Promise.all([client.close(), other.close()]);
});

test("a gone client's requests are not looked up, but its messages are accepted", async () => {
  const store = createMemoryStore();
  let reads = 0;
  const counting: SessionStore = {
    ...store,
    read: async (id, after) => {
      reads += 1;
      await new Promise(setImmediate);
      return store.read(id, after);
    },
  };
  const served = serve([says("Taken in.")], {}, { store: counting });
  const client = served.connect();
  const sessionId = await client.start();
  const send = (method: string, params: object): void =>
    client.raw(JSON.stringify({ jsonrpc: "2.0", id: "x", method, params: { sessionId, ...params } }));
  for (let nth = 0; nth < 50; nth += 1) send("resumeSession", {});
  send("sendUserMessage", { message: "the last one" });
  await client.close();
  expect(reads).toBeLessThan(3);
  await until(() => served.kit.requests.length === 1);
});

test("a client that leaves before its session opens leaves none behind", async () => {
  const served = serve([]);
  for (let nth = 0; nth < 20; nth += 1) {
    const client = served.connect();
    client.raw(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "startSession", params: { userId: "u" } }));
    for (let waits = 0; waits < nth; waits += 1) await Promise.resolve();
    await client.close();
  }
  await until(() => served.kit.clock.waiting === served.pool.all().length);
  served.kit.clock.advance(1_800_000);
  await until(() => served.pool.all().length === 0);
  expect(served.log.filter(({ event }) => event === "session.started").length).toBe(20);
});

test("resumeSession beyond the last number replays nothing, and returns the last number", async () => {
  const { connect } = serve([says("One."), says("Two.")]);
  const client = connect();
  const sessionId = await client.start();
  const seq = (await client.ask(sessionId, "one")).at(-1)?.params?.seq;
  const back = connect();
  const { result } = await back.request("resumeSession", { sessionId, afterSeq: Number(seq) + 1_000 });
  expect(result).toMatchObject({ seq, running: false, waiting: [] });
  expect(textIn(await back.ask(sessionId, "two"))).toBe("Two.");
  await Promise.all([client.close(), back.close()]);
});

test("clients that return at the same time share one reading of the log", async () => {
  const store = createMemoryStore();
  let reads = 0;
  const counting: SessionStore = {
    ...store,
    read: async (id, after) => {
      reads += 1;
      await new Promise(setImmediate);
      return store.read(id, after);
    },
  };
  const { connect } = serve([says("One.")], {}, { store: counting });
  const owner = connect();
  const sessionId = await owner.start();
  await owner.ask(sessionId, "one");
  const clients = Array.from({ length: 20 }, () => connect());
  const before = reads;
  const answers = await Promise.all(
    clients.map((client, nth) => client.request("resumeSession", { sessionId, afterSeq: nth % 2 === 0 ? 0 : 4 })),
  );
  expect([reads - before, answers.every(({ result }) => result?.status === 1)]).toEqual([1, true]);
  await Promise.all(clients.map((client) => client.request("echo", {})));
  const chunks = clients.map(({ frames }) => frames.filter(({ method }) => method?.startsWith("AI")).length);
  expect(new Set(chunks)).toEqual(new Set([2]));
  const messages = clients.map(({ frames }) => frames.filter(({ method }) => method?.startsWith("User")).length);
  expect(messages).toEqual(clients.map((_, nth) => (nth % 2 === 0 ? 1 : 0)));
  await Promise.all([owner, ...clients].map((client) => client.close()));
});

test("a message too large for the model's window ends under its id, and smaller ones are answered as before", async () => {
  const client = serve([says("One."), says("Two.")], {}, { model: { contextWindow: 20_000 } }).connect();
  const sessionId = await client.start();
  await client.ask(sessionId, "one");
  const ended = await client.ask(sessionId, "words ".repeat(20_000));
  const { messageId } = ended.at(-1)?.params ?? {};
  const status = await client.next();
  const end = { sessionId, messageId, reason: "error", code: "context_full" };
  expect(ended.at(-1)?.params).toMatchObject({ ...end, chunk: "", isFinal: true, offset: 0 });
  expect([status.method, status.params]).toMatchObject(["SessionStatusNotification", { ...end, status: 3 }]);
  expect(textIn(await client.ask(sessionId, "two"))).toBe("Two.");
  const back = await client.request("resumeSession", { sessionId });
  expect(back.result).toMatchObject({ running: false, waiting: [] });
  await client.close();
});

/** A server without its own limit, with a model that limits its silence itself. */
async function patient(reply: FakeReply) {
  const source = createKit([reply]);
  const port = { ...(await source.models.resolve("fake")), boundsSilence: true } as const;
  const models = { ...source.models, resolve: async () => port };
  const { ai: _, ...timeouts } = options.timeouts;
  return { source, ...serve([], { timeouts }, { models }) };
}

test("without a configured limit, a provider's model uses its own patience", async () => {
  const { reply, goOn } = inTwo("Let me think. ", "Done.");
  const { kit, connect } = await patient(reply);
  const client = connect();
  expect((await client.request("capabilities")).result?.timeouts).toEqual({
    toolResult: 600_000,
    idleSession: 1_800_000,
  });
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "go" });
  await client.until(({ params }) => params?.chunk === "Let me think. ");
  kit.clock.advance(170_000);
  goOn();
  expect((await client.until(isFinal)).at(-1)?.params).toMatchObject({ reason: "completed" });
  await client.close();
});

test("a provider's model that ran out of patience is a timeout for clients", async () => {
  const failure = { code: "model_failed", message: "It went silent.", cause: "timeout" } as const;
  const { connect } = await patient([{ type: "error", failure, retryable: false }]);
  const client = connect();
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "go" });
  expect((await client.until(isFinal)).at(-1)?.params).toMatchObject({ reason: "timeout", code: "model_failed" });
  expect((await client.next()).params).toMatchObject({ status: 3, reason: "timeout", code: "model_failed" });
  await client.close();
});

test("the offline and scripted models keep 10 seconds", async () => {
  const { ai: _, ...timeouts } = options.timeouts;
  const { reply } = inTwo("Wait", "never");
  const { kit, connect } = serve([reply], { timeouts });
  const client = connect();
  expect((await client.request("capabilities")).result?.timeouts).toMatchObject({ ai: 10_000 });
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "go" });
  await client.until(({ params }) => params?.chunk === "Wait");
  await until(() => kit.clock.waiting > 0);
  kit.clock.advance(10_000);
  expect((await client.until(isFinal)).at(-1)?.params).toMatchObject({ reason: "timeout", code: "timeout" });
  await client.close();
});

test("a long past is sent in parts, complete and in order, and is not kept for a slow reader", async () => {
  const store = createMemoryStore();
  let reads = 0;
  const counted: SessionStore = {
    ...store,
    read: (id, after) => {
      reads += 1;
      return store.read(id, after);
    },
  };
  const texts = "abcdef".split("").map((letter) => letter.repeat(2_000_000));
  const { connect } = serve(texts.map(says), {}, { store: counted, model: { contextWindow: 100_000_000 } });
  const first = connect();
  const sessionId = await first.start();
  for (const _ of texts) await first.ask(sessionId, "go on");
  const second = connect(undefined, { maxWaiting: 1_000 });
  reads = 0;
  const { result } = await second.request("resumeSession", { sessionId });
  const told = [];
  for (let nth = 0; nth < Number(result?.replayed); nth += 1) told.push(await second.next());
  const numbers = told.map(({ params }) => Number(params?.seq));
  expect(textIn(told) === texts.join("")).toBe(true);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect([reads, told.filter(isFinal).length]).toEqual([3, 6]);
  await Promise.all([first.close(), second.close()]);
});
