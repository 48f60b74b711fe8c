import { existsSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { thatStay } from "../../e2e/processes.ts";
import type { Bench } from "../../e2e/tinman.ts";
import { until } from "../fakes/stand-ins.ts";
import { bridgeWebSockets, type WebSocketBridge } from "../fakes/web-socket-bridge.ts";
import { createProjectWithPackage } from "../package/packed.ts";
import type { Place, Scenarios } from "./browser-page.ts";
import { counted, ended, message, permissionFor, scripts, settings, usage, uuid } from "./browser-scripts.ts";
import { findBrowser, noBrowser, type OpenedPage, openPage } from "./real-browser.ts";

/* The package in a page, built by a page's own bundler, with the program behind a WebSocket. */

/** Maximum size of the SDK for a page, gzipped. */
const mostBytes = 40 * 1024;

const used = "createSession, resumeSession, query, webSocketConnection, readStreamJson";

let bench: Bench;
beforeAll(async () => {
  bench = await createProjectWithPackage();
});
afterAll(() => bench.remove());

/** As a user's bundler builds it: the package is found through its `exports`. */
async function bundled(text: string): Promise<string> {
  const input = await bench.file("page.js", text);
  const bundle = await rolldown({ input, platform: "browser", logLevel: "silent" });
  try {
    const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false });
    const [{ code, moduleIds, imports }] = output;
    expect([output.length, imports, moduleIds.filter((id) => id.includes("/src/"))]).toEqual([1, [], []]);
    return code;
  } finally {
    await bundle.close();
  }
}

test("a page loads little, whatever it uses", async ({ annotate }) => {
  const code = await bundled(`import { ${used} } from "tinman/sdk"; globalThis.used = [${used}];`);
  const { length } = gzipSync(code);
  await annotate(`${code.length} bytes, ${length} gzipped`);
  expect(length).toBeLessThan(mostBytes);
});

describe("in a browser", () => {
  const browser = findBrowser();
  let bridge: WebSocketBridge;
  let opened: OpenedPage | undefined;
  const models: Record<string, string> = {};

  beforeAll(async () => {
    if (browser === undefined) {
      process.stderr.write(`test/sdk/browser/browser.test.ts: not run, ${noBrowser}\n`);
      return;
    }
    bridge = await bridgeWebSockets(bench);
    for (const [name, replies] of Object.entries(scripts)) models[name] = await bench.script(replies.map(counted));
    opened = await openPage(browser, {
      folder: join(bench.root, "browser"),
      script: await bundled(program),
      given: {
        freeze: (path) => bridge.killPrograms("SIGSTOP", `/${path}`),
        closeSockets(path) {
          bridge.closeSockets(4000, "maintenance", `/${path}`);
          bridge.killPrograms("SIGKILL", `/${path}`);
        },
      },
    });
    const place: Place = { address: bridge.address, cwd: bench.cwd, models };
    await opened.page.evaluate(`begin(${JSON.stringify(place)})`);
  });

  beforeEach(({ skip }) => {
    if (browser === undefined && !process.env.CI) skip(noBrowser);
    expect(browser, noBrowser).toBeDefined();
  });

  afterEach(async () => {
    if (browser === undefined) return;
    expect(opened?.said).toEqual([]);
    await until(() => bridge.openCount === 0);
  });

  afterAll(async () => {
    if (browser === undefined) return;
    await opened?.close();
    await bridge.close();
    // The folder is in the environment of the browser's and the program's processes.
    expect(await thatStay(bench.root)).toEqual([]);
  });

  async function inPage<Name extends keyof Scenarios>(name: Name, ...args: Parameters<Scenarios[Name]>) {
    const call = `scenarios.${name}(...${JSON.stringify(args)})`;
    return opened?.page.evaluate<Awaited<ReturnType<Scenarios[Name]>>>(call);
  }

  test("needs nothing that only secure pages have", async () => {
    expect(await inPage("surroundings")).toEqual({ isSecure: false, hasRandomUuid: false });
  });

  test("streams a turn", async () => {
    const told = await inPage("streamed");
    const [turnId, replyId] = [told?.turnId ?? "", told?.events.flatMap(messageIdOf).at(-1) ?? ""];
    const [title, text] = ["Hello, all of you: äöü 漢字 🦫", "Grüße aus 漢字 🦫."];
    const result = { ...ended("completed", text), turnId };
    const said = ["Grüße", " aus", " 漢字", " 🦫."];
    expect(told).toEqual({
      id: uuid,
      cwd: bench.cwd,
      settings: { ...settings, modelId: models.streamed },
      usage: usage(1),
      title,
      isBusy: false,
      turnId: uuid,
      result,
      events: [
        { type: "state", state: "streaming_assistant_message" },
        message({ id: turnId, role: "user", parentId: "root", content: [{ type: "text", text: title }] }, title),
        { type: "title", title },
        { type: "thinking", messageId: replyId, text: "A greeting." },
        ...said.map((piece) => ({ type: "text", messageId: replyId, text: piece })),
        message(
          {
            id: replyId,
            role: "assistant",
            parentId: turnId,
            content: [
              { type: "thinking", thinking: "A greeting.", signature: "" },
              { type: "text", text },
            ],
          },
          text,
        ),
        { type: "usage", usage: usage(1), lastCall: usage(1) },
        { type: "end", result },
      ],
    });
  });

  test("asks a handler for permission, and applies its answer", async () => {
    expect(await inPage("permission")).toEqual({
      asked: [permissionFor("call_1", "no"), permissionFor("call_2", "yes")],
      results: [ended("interrupted", "", 1, "permission_rejected"), ended("completed", "Made.", 2)],
    });
    expect([existsSync(join(bench.cwd, "no.txt")), await bench.read("yes.txt")]).toEqual([false, "yes\n"]);
  });

  test("a handler answers questions", async () => {
    const [colour, kind] = [
      { index: 1, topic: "Colour", question: "Which colour?", options: ["Red", "Blue"] },
      { index: 2, topic: "Kind", question: "Which kind?", options: ["Round", "Soft"] },
    ];
    const text = "1. [question] Which colour?\n[answer] Blue\n\n2. [question] Which kind?\n[answer] Round, Soft";
    expect(await inPage("question")).toEqual({ asked: [[colour, kind]], result: ended("completed", text, 2) });
  });

  test("interrupts a turn, and the session continues", async () => {
    expect(await inPage("interrupt")).toEqual({
      shown: "On",
      result: ended("interrupted", "On", 0, "cancelled"),
      afterwards: ended("completed", "Stopped."),
    });
  });

  test("aborts a turn, and the session continues", async () => {
    const failure = { name: "Error", message: "The user has left." };
    expect(await inPage("aborted")).toEqual({
      failures: [failure, failure],
      afterwards: ended("completed", "Stopped."),
    });
  });

  test("changes settings, and reads listings", async () => {
    const before = { ...settings, modelId: models.streamed };
    const after = { ...before, interactionMode: "spec", autonomyLevel: "medium" };
    expect(await inPage("settings")).toEqual({
      before,
      told: after,
      after,
      title: "A page's own",
      hasRead: true,
      hasOffline: true,
      called: { commands: [] },
    });
  });

  test("resumes a session", async () => {
    const reminder = { type: "text", text: expect.stringMatching(/^<system-reminder>/) };
    expect(await inPage("resumed")).toEqual({
      isSame: true,
      cwd: bench.cwd,
      history: [
        { role: "user", content: [reminder, { type: "text", text: "first prompt" }] },
        { role: "assistant", content: [{ type: "text", text: "First answer." }] },
      ],
      next: ended("completed", "Second answer."),
      unknown: { name: "SessionNotFoundError", message: "load session: Session not found" },
    });
  });

  test("runs two sessions at once", async () => {
    expect(await inPage("twoAtOnce")).toEqual({
      order: ["first is asked", "second has ended", "first has ended"],
      results: [ended("completed", "The second."), ended("completed", "The first.", 2)],
      areTwo: true,
    });
  });

  test("a query opens a session, and closes it", async () => {
    expect(await inPage("queried")).toEqual({
      types: ["state", "message", "title", "thinking", "text", "usage", "end"],
      text: "Grüße aus 漢字 🦫.",
    });
  });

  test("settles everything waiting when the server disappears in the middle of a turn", async () => {
    const reason = "The WebSocket has ended: it was closed with code 4000 (maintenance).";
    const gone = { name: "BackendGoneError", message: reason };
    const calls = ["result", "event", "queued", "models", "tools", "settings", "rename", "call"] as const;
    expect(await inPage("serverGone")).toEqual({
      failures: Object.fromEntries(calls.map((name) => [name, gone])),
      later: gone,
      ended: { reason },
      isBusy: false,
    });
  });

  test.each([
    ["nothing listens", "ws://127.0.0.1:", "ERR_CONNECTION_REFUSED"],
    ["the page must not connect", "ws://localhost:", "Content Security Policy"],
  ])("opening fails where %s, and only the browser says why", async (_where, origin, why) => {
    const nobody = await bridgeWebSockets(bench);
    await nobody.close();
    const address = origin + new URL(nobody.address).port;
    expect(await inPage("refused", address)).toEqual({
      name: "SdkError",
      message: `The WebSocket ${address}/ could not be opened: the connection failed.`,
    });
    await until(() => opened?.said.length !== 0);
    expect(opened?.said.splice(0)).toEqual([expect.stringContaining(why)]);
  });

  test("reads a run's output, at once or as a stream", async () => {
    const { stdout } = await bench.tinman(["exec", "-m", models.streamed ?? "", "-o", "stream-json", "hi"]);
    const told = await inPage("streamJson", stdout);
    expect(told?.streamed).toEqual(told?.whole);
    expect(told?.whole).toEqual([
      {
        type: "session",
        sessionId: uuid,
        cwd: bench.cwd,
        model: models.streamed,
        tools: expect.arrayContaining(["Read"]),
      },
      message({ id: uuid, role: "user", content: [{ type: "text", text: "hi" }] }, "hi"),
      { type: "thinking", messageId: uuid, text: "A greeting." },
      message(
        { id: uuid, role: "assistant", content: [{ type: "text", text: "Grüße aus 漢字 🦫." }] },
        "Grüße aus 漢字 🦫.",
      ),
      {
        type: "end",
        status: "completed",
        reason: "completed",
        text: "Grüße aus 漢字 🦫.",
        sessionId: uuid,
        model: models.streamed,
        durationMs: expect.any(Number),
        usage: usage(1),
      },
    ]);
  });
});

const program = `
  import { ${used} } from "tinman/sdk";
  import { createScenarios } from ${JSON.stringify(join(import.meta.dirname, "browser-page.ts"))};
  globalThis.begin = (place) => {
    globalThis.scenarios = createScenarios({ ${used} }, place, { freeze, closeSockets });
  };
`;

const messageIdOf = (event: object): readonly string[] =>
  "messageId" in event && typeof event.messageId === "string" ? [event.messageId] : [];
