import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isFinal, textIn } from "../../frontends/interactive/served.ts";
import { replies } from "./replies.ts";
import { type Server, startServer } from "./server.ts";
import { isCall, isStatus, type WireClient } from "./wire-client.ts";

let server: Server;
let client: WireClient;

beforeAll(async () => {
  const busy = { status: 503, message: "Busy.", retry_after_ms: 1_000 };
  const own = [
    { when: { user: "be busy" }, text: "Not yet", error: busy },
    { when: { user: "be busy" }, text: ", but now." },
    {
      when: { user: "work" },
      tool_calls: [{ name: "Execute", input: { command: "sleep 1; echo done", riskLevel: "low" } }],
    },
    { when: { after_tool: "Execute" }, text: "Worked." },
  ];
  const interactive = { timeouts: { ai: "700ms" }, toolExecutionChoices: ["server"], autonomy: "high" };
  server = await startServer({ replies: [...own, ...replies], config: { interactive } });
});
afterAll(() => server.remove());
beforeEach(async () => {
  client = await server.connect();
});
afterEach(() => client.close());

/** Only a silent model counts as silent; other delays don't. */
function expectNoTimeout(): void {
  expect(client.frames.filter(isStatus(3))).toEqual([]);
  expect(client.frames.filter(isFinal).map(({ params }) => params?.reason)).toEqual(["completed"]);
}

test("a client can take longer for a tool than a model can be silent", async () => {
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "one tool" });
  const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
  await sleep(1_000);
  await client.request("provideToolResult", { sessionId, toolCallId, result: "late, but here" });
  expect(textIn(await client.until(isFinal))).toBe("It says: late, but here");
  expectNoTimeout();
});

test("so can a tool that the server runs", async () => {
  const sessionId = await client.start({ toolExecution: "server" });
  expect(textIn(await client.ask(sessionId, "work"))).toBe("Worked.");
  expectNoTimeout();
});

test("so can a provider that asks for a later retry: the client is warned, and nothing is repeated", async () => {
  const sessionId = await client.start();
  const frames = await client.ask(sessionId, "be busy");
  expect(textIn(frames)).toBe("Not yet, but now.");
  expect(frames.filter(({ method }) => method === "ErrorNotification").map(({ params }) => params)).toEqual([
    {
      sessionId,
      code: -32000,
      message: "Calling the model again.",
      data: { reason: "retry", attempt: 1, delayMs: 1_000, code: "model_overloaded" },
    },
  ]);
  expectNoTimeout();
});
