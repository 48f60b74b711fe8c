import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FailureCause } from "../../../src/core/errors.ts";
import type { EngineEvent } from "../../../src/core/event.ts";
import { ask } from "../../fakes/kit.ts";
import type { Fault, Turn } from "../../fakes/providers/base.ts";
import type { WireName } from "./wire.ts";
import { closeServers, eventsOf, openWire, wireNames } from "./wire.ts";

afterEach(closeServers);

/** Silence is told soon, so that a test does not wait for it. */
const timeouts = { connect: 5, firstByte: 0.8, idle: 0.3 };
const good: Turn = { text: ["It ", "works."] };

type Row = readonly [name: string, fault: Fault, attempts: number, code: string, words: RegExp];

const lasting: readonly Row[] = [
  ["400", { status: 400 }, 1, "model_bad_request", /did not accept the request for .+ \(400\)/],
  [
    "401",
    { status: 401 },
    1,
    "model_auth",
    /refused the key \(401\).* Check apiKey of model "model" in config\.yaml\./,
  ],
  ["403", { status: 403 }, 1, "model_auth", /does not allow this \(403\).*config\.yaml/],
  ["404", { status: 404 }, 1, "model_bad_request", /has no model ".+" at http:\/\/127\.0\.0\.1:\d+.* \(404\)/],
  ["413", { status: 413 }, 1, "model_bad_request", /larger than .+ takes \(413\)/],
  ["422", { status: 422 }, 1, "model_bad_request", /did not accept the request for .+ \(422\)/],
  ["a web page", "html-body", 1, "model_failed", /: http.* answered with a web page: it is not the address of a model/],
];

const passing: readonly Row[] = [
  ["408", { status: 408 }, 4, "model_failed", /status 408/],
  ["409", { status: 409 }, 4, "model_failed", /status 409/],
  ["425", { status: 425 }, 4, "model_failed", /status 425/],
  ["429", { status: 429, headers: { "retry-after": "1" } }, 4, "model_overloaded", /rate limit is used up \(429\)/],
  ["500", { status: 500 }, 4, "model_failed", /status 500/],
  [
    "502",
    { status: 502, body: "<html>bad gateway</html>" },
    4,
    "model_failed",
    /status 502: it answered with a web page/,
  ],
  ["503", { status: 503 }, 4, "model_overloaded", /overloaded \(503\)/],
  ["504", { status: 504 }, 4, "model_failed", /status 504/],
  ["529", { status: 529 }, 4, "model_overloaded", /overloaded \(529\)/],
  ["a connection that is closed", "refuse-connection-after-accept", 4, "model_failed", /cannot be reached\. .*closed/],
  [
    "a body without content",
    "empty-body",
    4,
    "model_failed",
    /answer (ended before it was whole|that is not whole or not in its format|without a body)/,
  ],
];

/** These take their time, so all wires are tried at once. */
const silent: readonly Row[] = [
  ["no answer", "silence", 4, "model_failed", /^(?!.*cannot be reached).*: .*0\.8 s/],
  [
    "headers and no answer",
    "headers-then-silence",
    4,
    "model_failed",
    /: 127\.0\.0\.1:\d+ sent headers, but no answer within 0\.8 s\. timeouts\.firstByte/,
  ],
];

/** By the name of the row; the others have none. */
const causes: Readonly<Record<string, FailureCause>> = {
  "408": "timeout",
  "429": "rate_limited",
  "503": "overloaded",
  "504": "timeout",
  "529": "overloaded",
  "a connection that is closed": "network",
  "no answer": "timeout",
  "headers and no answer": "timeout",
};

// Loading the providers' libraries can take longer than the silence that the tests allow.
beforeAll(async () => {
  for (const name of wireNames) {
    const { server, open } = await openWire(name);
    server.enqueue(good);
    expect(await ask(await open(), "go")).toMatchObject({ reason: "completed" });
  }
  await closeServers();
});

async function endsWithWords(name: WireName, [row, fault, attempts, code, words]: Row): Promise<void> {
  const { server, open } = await openWire(name, { entry: { timeouts } });
  server.enqueue(...Array.from({ length: attempts }, () => ({ ...good, fault })), good);
  const session = await open();
  const events = await eventsOf(session, () => ask(session, "go"));
  expect(server.requests.length).toBe(attempts);
  const ended = events.find((event) => event.type === "turn.ended");
  expect(ended).toMatchObject({ reason: "failed", failure: { code, message: expect.stringMatching(words) } });
  const failure = ended?.type === "turn.ended" ? ended.failure : undefined;
  // Each wire has its own way to notice that there is no body.
  if (fault !== "empty-body") expect(failure?.cause).toBe(causes[row]);
  expect(retriesIn(events)).toEqual(
    pausesAfter(fault)
      .slice(0, attempts - 1)
      .map((delayMs, index) => ({ attempt: index + 1, delayMs, failure })),
  );
  expect(JSON.stringify(events)).not.toContain(server.key);
}

async function isTriedAgain(name: WireName, [, fault]: Row): Promise<void> {
  const { server, open } = await openWire(name, { entry: { timeouts } });
  server.enqueue({ ...good, fault }, good);
  const session = await open();
  const events = await eventsOf(session, () => ask(session, "go"));
  expect(deltasIn(events)).toEqual(["It ", "works."]);
  expect(session.history().at(-1)).toMatchObject({ content: [{ type: "text", text: "It works." }], stop: "end" });
  expect(retriesIn(events)).toHaveLength(1);
}

async function goesOn(name: WireName, fault: Fault): Promise<void> {
  const { server, open } = await openWire(name, { entry: { timeouts } });
  const words = ["One, ", "two, ", "three, ", "four, "];
  server.enqueue({ text: words, fault }, { text: ["and ", "that is all."] });
  const session = await open();
  const events = await eventsOf(session, () => ask(session, "Count."));
  const shown = deltasIn(events);
  expect(shown.slice(-2)).toEqual(["and ", "that is all."]);
  // Whatever had come was shown once, in its order.
  expect(words.join("").startsWith(shown.slice(0, -2).join(""))).toBe(true);
  expect(shown.length).toBeGreaterThan(2);
  expect(session.history().at(-1)).toMatchObject({ content: [{ type: "text", text: shown.join("") }], stop: "end" });
  expect(retriesIn(events)).toHaveLength(1);
  expect(server.requests.flatMap(({ faults }) => faults)).toEqual([]);
  const second = JSON.stringify(server.requests[1]?.body);
  expect(second).toContain("Go on exactly where your answer stopped");
  expect(second).toContain(JSON.stringify(shown.slice(0, -2).join("")).slice(1, -1));
}

describe("on every wire", () => {
  const onAll = async (check: (name: WireName) => Promise<void>): Promise<void> => {
    await Promise.all(wireNames.map(check));
  };

  test.each(silent)("%s ends the turn with words", (...row) => onAll((name) => endsWithWords(name, row)));

  test.each(silent)("%s is tried again, and nothing of it is seen", (...row) =>
    onAll((name) => isTriedAgain(name, row)),
  );

  test("an answer that is silent goes on where it stopped", () => onAll((name) => goesOn(name, { idleAfter: 6 })));
});

describe.each(wireNames)("%s", (name) => {
  test.each([...lasting, ...passing])("%s ends the turn with words", (...row) => endsWithWords(name, row));

  test.each(passing)("%s is tried again, and nothing of it is seen", (...row) => isTriedAgain(name, row));

  test("a server's own pause goes first, and a long one is not waited for", async () => {
    const { server, open } = await openWire(name);
    server.enqueue({ fault: { status: 429, headers: { "retry-after": "2" } } }, good);
    server.enqueue({ fault: { status: 429, headers: { "retry-after": "3600" } } });
    const session = await open();
    const first = await eventsOf(session, () => ask(session, "go"));
    expect(retriesIn(first)).toMatchObject([{ attempt: 1, delayMs: 2_000 }]);
    const outcome = await ask(session, "again");
    expect(outcome.failure).toEqual({
      code: "model_overloaded",
      message: expect.stringMatching(/ It asks to wait 3600 s, and that is longer than a reply is waited for\.$/),
      cause: "rate_limited",
    });
    expect(server.requests).toHaveLength(3);
  });

  test.each<readonly [string, Fault]>([
    ["cut", { cutAfter: 6 }],
    ["malformed", { malformedAfter: 6 }],
    ["ended without an end", { endWithoutFinish: true }],
    ["an error", { streamError: { after: 6 } }],
  ])("an answer that is %s goes on where it stopped", (_, fault) => goesOn(name, fault));

  test("a call that was cut off does not run, the one of the next attempt does", async () => {
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

  test("an answer with nothing in it is asked for once more, and then a failure", async () => {
    const { server, open } = await openWire(name);
    server.enqueue({ fault: "empty-answer" }, { fault: "empty-answer" }, good);
    const session = await open();
    const events = await eventsOf(session, () => ask(session, "go"));
    const failure = { code: "model_empty", message: "The model answered with nothing." };
    expect(retriesIn(events)).toEqual([{ attempt: 1, delayMs: 500, failure: { ...failure, cause: "empty_response" } }]);
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", failure });
    expect(server.requests).toHaveLength(2);
  });

  test("a server that is not there", async () => {
    const { server, open } = await openWire(name);
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

  test("a key that is repeated by the server is not told", async () => {
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

/** What the server asks for, or our own. */
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
