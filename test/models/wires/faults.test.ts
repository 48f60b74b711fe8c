import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FailureCause } from "../../../src/engine/errors.ts";
import type { EngineEvent } from "../../../src/engine/event.ts";
import { ask } from "../../fakes/kit.ts";
import type { Fault, Turn } from "../../fakes/providers/base.ts";
import type { WireName } from "./wire.ts";
import { closeServers, eventsOf, openWire, wireNames } from "./wire.ts";

afterEach(closeServers);

/** Short, so that tests detect silence quickly. */
const timeouts = { connect: 5, firstByte: 0.8, idle: 0.3 };
/** Ends after 0.5, 1 and 2 seconds. */
const retries = { seconds: 6 };
const good: Turn = { text: ["It ", "works."] };

type Row = readonly [name: string, fault: Fault, attempts: number, code: string, message: RegExp];

const lasting: readonly Row[] = [
  ["400", { status: 400 }, 1, "model_bad_request", /rejected the request for .+ \(400\)/],
  [
    "401",
    { status: 401 },
    1,
    "model_auth",
    /refused the key \(401\).* Check apiKey of model "model" in config\.yaml\./,
  ],
  ["403", { status: 403 }, 1, "model_auth", /denied access to .+ \(403\).*config\.yaml/],
  ["404", { status: 404 }, 1, "model_bad_request", /has no model ".+" at http:\/\/127\.0\.0\.1:\d+.* \(404\)/],
  ["413", { status: 413 }, 1, "model_bad_request", /too large for .+ \(413\)/],
  ["422", { status: 422 }, 1, "model_bad_request", /rejected the request for .+ \(422\)/],
  ["a web page", "html-body", 1, "model_failed", /: http.* returned a web page, so it is not a model's address/],
];

const passing: readonly Row[] = [
  ["408", { status: 408 }, 4, "model_failed", /status 408/],
  ["409", { status: 409 }, 4, "model_failed", /status 409/],
  ["425", { status: 425 }, 4, "model_failed", /status 425/],
  ["429", { status: 429, headers: { "retry-after": "1" } }, 4, "model_overloaded", /rate limit is exceeded \(429\)/],
  ["500", { status: 500 }, 4, "model_failed", /status 500/],
  ["502", { status: 502, body: "<html>bad gateway</html>" }, 4, "model_failed", /status 502: it returned a web page/],
  ["503", { status: 503 }, 4, "model_overloaded", /overloaded \(503\)/],
  ["504", { status: 504 }, 4, "model_failed", /status 504/],
  ["529", { status: 529 }, 4, "model_overloaded", /overloaded \(529\)/],
  ["a closed connection", "refuse-connection-after-accept", 4, "model_failed", /cannot be reached\. .*closed/],
  [
    "an empty body",
    "empty-body",
    4,
    "model_failed",
    /reply ended early|incomplete or malformed response|response without a body/,
  ],
];

/** Slow, so all wires run at once. */
const silent: readonly Row[] = [
  ["no response", "silence", 2, "model_failed", /^model sent nothing for 0\.8 s\. The model's timeouts\.firstByte/],
  [
    "headers without a body",
    "headers-then-silence",
    2,
    "model_failed",
    /^model sent nothing for 0\.8 s\. The model's timeouts\.firstByte/,
  ],
];

/** By row name. Other rows have no cause. */
const causes: Readonly<Record<string, FailureCause>> = {
  "408": "timeout",
  "413": "too_large",
  "429": "rate_limited",
  "503": "overloaded",
  "504": "timeout",
  "529": "overloaded",
  "a closed connection": "network",
  "no response": "timeout",
  "headers without a body": "timeout",
};

// Loading the providers' libraries can take longer than the timeouts of these tests.
beforeAll(async () => {
  for (const name of wireNames) {
    const { server, open } = await openWire(name);
    server.enqueue(good);
    expect(await ask(await open(), "go")).toMatchObject({ reason: "completed" });
  }
  await closeServers();
});

async function failsTurn(name: WireName, [row, fault, attempts, code, message]: Row): Promise<void> {
  const { server, open } = await openWire(name, { entry: { timeouts, retries } });
  server.enqueue(...Array.from({ length: attempts }, () => ({ ...good, fault })), good);
  const session = await open();
  const events = await eventsOf(session, () => ask(session, "go"));
  expect(server.requests.length).toBe(attempts);
  const ended = events.find((event) => event.type === "turn.ended");
  expect(ended).toMatchObject({ reason: "failed", failure: { code, message: expect.stringMatching(message) } });
  const failure = ended?.type === "turn.ended" ? ended.failure : undefined;
  // Each wire detects a missing body in its own way.
  if (fault !== "empty-body") expect(failure?.cause).toBe(causes[row]);
  expect(retriesIn(events)).toEqual(
    pausesAfter(fault)
      .slice(0, attempts - 1)
      .map((delayMs, index) => ({ attempt: index + 1, delayMs, failure })),
  );
  expect(JSON.stringify(events)).not.toContain(server.key);
}

async function isRetried(name: WireName, [, fault]: Row): Promise<void> {
  const { server, open } = await openWire(name, { entry: { timeouts } });
  server.enqueue({ ...good, fault }, good);
  const session = await open();
  const events = await eventsOf(session, () => ask(session, "go"));
  expect(deltasIn(events)).toEqual(["It ", "works."]);
  expect(session.history().at(-1)).toMatchObject({ content: [{ type: "text", text: "It works." }], stop: "end" });
  expect(retriesIn(events)).toHaveLength(1);
}

async function isContinued(name: WireName, fault: Fault): Promise<void> {
  const { server, open } = await openWire(name, { entry: { timeouts } });
  const words = ["One, ", "two, ", "three, ", "four, "];
  server.enqueue({ text: words, fault }, { text: ["and ", "that is all."] });
  const session = await open();
  const events = await eventsOf(session, () => ask(session, "Count."));
  const shown = deltasIn(events);
  expect(shown.slice(-2)).toEqual(["and ", "that is all."]);
  // Everything received was shown once, in order.
  expect(words.join("").startsWith(shown.slice(0, -2).join(""))).toBe(true);
  expect(shown.length).toBeGreaterThan(2);
  expect(session.history().at(-1)).toMatchObject({ content: [{ type: "text", text: shown.join("") }], stop: "end" });
  expect(retriesIn(events)).toHaveLength(1);
  expect(server.requests.flatMap(({ faults }) => faults)).toEqual([]);
  const second = JSON.stringify(server.requests[1]?.body);
  expect(second).toContain("Continue exactly where it stopped");
  expect(second).toContain(JSON.stringify(shown.slice(0, -2).join("")).slice(1, -1));
}

describe("on every wire", () => {
  const onAll = async (check: (name: WireName) => Promise<void>): Promise<void> => {
    await Promise.all(wireNames.map(check));
  };

  test.each(silent)("%s fails the turn with a message", (...row) => onAll((name) => failsTurn(name, row)));

  test.each(silent)("%s is retried and leaves no trace", (...row) => onAll((name) => isRetried(name, row)));

  test("a stalled reply continues where it stopped", () => onAll((name) => isContinued(name, { idleAfter: 6 })));
});

describe.each(wireNames)("%s", (name) => {
  test.each([...lasting, ...passing])("%s fails the turn with a message", (...row) => failsTurn(name, row));

  test.each(passing)("%s is retried and leaves no trace", (...row) => isRetried(name, row));

  test("honors the server's pause, unless it is too long", async () => {
    const { server, open } = await openWire(name);
    server.enqueue({ fault: { status: 429, headers: { "retry-after": "2" } } }, good);
    server.enqueue({ fault: { status: 429, headers: { "retry-after": "3600" } } });
    const session = await open();
    const first = await eventsOf(session, () => ask(session, "go"));
    expect(retriesIn(first)).toMatchObject([{ attempt: 1, delayMs: 2_000 }]);
    const outcome = await ask(session, "again");
    expect(outcome.failure).toEqual({
      code: "model_overloaded",
      message: expect.stringMatching(/ It asks for a wait of 3600 s, over the limit\.$/),
      cause: "rate_limited",
    });
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    ["seconds", { "retry-after": "2" }, 2_000],
    ["a date", { date: "Thu, 19 Nov 2026 10:00:00 GMT", "retry-after": "Thu, 19 Nov 2026 10:00:07 GMT" }, 7_000],
    ["milliseconds", { "retry-after": "2", "retry-after-ms": "1234" }, 1_234],
    ["Azure's milliseconds", { "x-ms-retry-after-ms": "1500" }, 1_500],
  ])("reads the server's pause as %s", async (_, headers, delayMs) => {
    const { server, open } = await openWire(name);
    server.enqueue({ fault: { status: 429, headers } }, good);
    const session = await open();
    const events = await eventsOf(session, () => ask(session, "go"));
    expect(retriesIn(events)).toMatchObject([{ attempt: 1, delayMs }]);
  });

  test("does not retry if the server says so", async () => {
    const { server, open } = await openWire(name);
    server.enqueue({ fault: { status: 529, headers: { "x-should-retry": "false" } } }, good);
    expect(await ask(await open(), "go")).toMatchObject({ failure: { code: "model_overloaded" } });
    expect(server.requests).toHaveLength(1);
  });

  test.each<readonly [string, Fault]>([
    ["cut", { cutAfter: 6 }],
    ["malformed", { malformedAfter: 6 }],
    ["unfinished", { endWithoutFinish: true }],
    ["failed", { streamError: { after: 6 } }],
  ])("a %s reply continues where it stopped", (_, fault) => isContinued(name, fault));

  test("skips a truncated call and runs the retry's", async () => {
    const { server, kit, open } = await openWire(name, { entry: { timeouts } });
    const calls = [{ name: "Create", input: { file_path: "x.txt", content: "hello" }, id: "call_1", pieces: 8 }];
    server.enqueue({ calls, fault: { endWithoutFinish: true } }, { calls }, { text: ["Made it."] });
    const session = await open();
    const outcome = await ask(session, "Make x.txt.");
    expect(outcome).toMatchObject({ reason: "completed", finalText: "Made it." });
    expect(kit.host.text("/ws/x.txt")).toBe("hello");
    expect(session.history().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(server.requests).toHaveLength(3);
  });

  test("retries an empty reply once, then fails", async () => {
    const { server, open } = await openWire(name);
    server.enqueue({ fault: "empty-answer" }, { fault: "empty-answer" }, good);
    const session = await open();
    const events = await eventsOf(session, () => ask(session, "go"));
    const failure = { code: "model_empty", message: "The model returned an empty reply." };
    expect(retriesIn(events)).toEqual([{ attempt: 1, delayMs: 500, failure: { ...failure, cause: "empty_response" } }]);
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", failure });
    expect(server.requests).toHaveLength(2);
  });

  test("reports an unreachable server", async () => {
    const { server, open } = await openWire(name, { entry: { retries } });
    await server.close();
    const session = await open();
    const events = await eventsOf(session, () => ask(session, "go"));
    expect(events.at(-1)).toMatchObject({
      reason: "failed",
      failure: {
        code: "model_failed",
        message: expect.stringMatching(/cannot be reached\. .*127\.0\.0\.1:\d+/),
        cause: "network",
      },
    });
    expect(retriesIn(events)).toHaveLength(3);
  });

  test("hides the key when the server's error repeats it", async () => {
    const { server, open } = await openWire(name);
    const body = JSON.stringify({
      error: { message: `Bad key ${server.key} in Bearer ${server.key}`, type: "x", code: 1 },
    });
    server.enqueue({ fault: { status: 400, body } });
    const session = await open();
    const events = await eventsOf(session, () => ask(session, "go"));
    expect(JSON.stringify(events)).not.toContain(server.key);
    expect(events.at(-1)).toMatchObject({ failure: { message: expect.stringContaining("[hidden]") } });
  });
});

/** The server's pauses, or our own. */
function pausesAfter(fault: Fault): readonly number[] {
  const asks = typeof fault === "object" && "headers" in fault && fault.headers?.["retry-after"] !== undefined;
  return asks ? [1_000, 1_000, 1_000] : [500, 1_000, 2_000];
}

function retriesIn(events: readonly EngineEvent[]): readonly unknown[] {
  return events.flatMap((event) => {
    if (event.type !== "retry.scheduled") return [];
    const { attempt, delayMs, failure } = event;
    return [{ attempt, delayMs, failure }];
  });
}

function deltasIn(events: readonly EngineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "message.delta" && event.kind === "text" ? [event.text] : []));
}
