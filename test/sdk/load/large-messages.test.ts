import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Session } from "../../../src/sdk/api.ts";
import { createSession } from "../../../src/sdk/node.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import { createBench } from "../../e2e/tinman.ts";
import { isFullRun } from "../../full-run.ts";
import { createStandIns } from "../fakes/stand-ins.ts";

/* Long texts are compared by hash, because a difference would be printed in full. */

const size = 10 * 1024 * 1024;
const markOf = (text: string): string => `${text.length} ${createHash("sha256").update(text).digest("hex")}`;

/** All of its parts differ, and some of its characters have several bytes. */
function longText(length: number): string {
  let text = "";
  for (let number = 0; text.length < length; number++) text += `${number} ü "\\n" 😀 `;
  return text.slice(0, length);
}

const standIns = createStandIns();
let session: Session;
beforeAll(async () => {
  const backend = standIns.node(`
    import { createHash } from "node:crypto";
    import { createInterface } from "node:readline";
    const markOf = (text) => text.length + " " + createHash("sha256").update(text).digest("hex");
    ${longText}
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
    const notify = (notification) => send({ method: "droid.session_notification", params: { notification } });
    const text = longText(${size});
    let turns = 0;
    const delta = (textDelta) => notify({ type: "assistant_text_delta", messageId: "m" + turns, textDelta });
    const message = (id, text) =>
      notify({ type: "create_message", message: { id, role: "assistant", content: [{ type: "text", text }] } });
    const toolUse = { type: "tool_use", id: "c", name: "Read", input: {} };
    const say = {
      delta: () => delta(text),
      deltas: () => {
        for (let at = 0; at < text.length; at += 999) delta(text.slice(at, at + 999));
      },
      message: () => message("whole", text),
      both: () => {
        for (let at = 0; at < text.length / 2; at += 99_999) delta(text.slice(at, at + 99_999));
        message("m" + turns, text);
      },
      tool_result: () => {
        notify({ type: "tool_call", toolUse });
        notify({ type: "tool_result", toolUseId: "c", content: text, isError: false });
      },
    };
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      send({ id, result: { sessionId: "s", session: { messages: [] } } });
      if (method !== "droid.add_user_message") return;
      turns += 1;
      notify({ type: "droid_working_state_changed", newState: "streaming_assistant_message" });
      const things = [params.text, ...[...(params.images ?? []), ...(params.files ?? [])].map(({ data }) => data)];
      if (params.text in say) say[params.text]();
      else message("got-" + params.messageId, things.map(markOf).join(", "));
      notify({ type: "agent_turn_completed", turnId: params.messageId, reason: "completed" });
      notify({ type: "droid_working_state_changed", newState: "idle" });
    });
  `);
  session = await createSession({ executable: backend });
});
afterAll(async () => {
  await session.close();
  standIns.remove();
});

const all = markOf(longText(size));

interface Told {
  readonly texts: string;
  readonly messages: readonly string[];
  readonly results: readonly string[];
  readonly end: string;
}

async function told(prompt: string): Promise<Told> {
  const events: TurnEvent[] = [];
  for await (const event of session.stream(prompt)) events.push(event);
  const end = events.find((event) => event.type === "end");
  return {
    texts: markOf(events.map((event) => (event.type === "text" ? event.text : "")).join("")),
    messages: events.flatMap((event) => (event.type === "message" ? [markOf(event.text)] : [])),
    results: events.flatMap((event) => (event.type === "tool_result" ? [markOf(event.text)] : [])),
    end: markOf(end?.result.text ?? ""),
  };
}

const none = markOf("");

const alone: readonly (readonly [string, object])[] = [
  ["delta", { texts: all, messages: [], results: [], end: all }],
  ["deltas", { texts: all, messages: [], results: [], end: all }],
  ["message", { texts: all, messages: [all], results: [], end: all }],
];

it.each([
  ...(isFullRun ? alone : []),
  ["both", { texts: all, messages: [all], results: [], end: all }] as const,
  ["tool_result", { texts: none, messages: [], results: [all], end: none }] as const,
])("10 MB arrive complete as %s", async (prompt, expected) => {
  expect(await told(prompt)).toEqual(expected);
});

it("sends a prompt of 9 MB complete, with images and files", async () => {
  const prompt = longText(9 * 1024 * 1024);
  const picture = Buffer.from(longText(3 * 1024 * 1024)).toString("base64");
  const paper = Buffer.from(longText(2 * 1024 * 1024)).toString("base64");
  const result = await session.send(prompt, {
    images: [
      { mediaType: "image/png", data: picture },
      { mediaType: "image/png", data: "AAAA" },
    ],
    files: [{ mediaType: "application/pdf", data: paper }],
  });
  expect(result.text).toBe([prompt, picture, "AAAA", paper].map(markOf).join(", "));
});

it("9 MB reach the program, and its longest answer comes back", async () => {
  const bench = await createBench();
  const times = 340_000;
  const modelId = await bench.script([{ repeat_text: { text: "0123456789abcdef", times } }], {
    model: { contextWindow: 100_000_000 },
  });
  const own = await createSession({ cwd: bench.cwd, env: { ...bench.env, TINMAN_MODEL: modelId } });
  const prompt = longText(9 * 1024 * 1024);
  const messages: string[] = [];
  let pieces = "";
  for await (const event of own.stream(prompt)) {
    if (event.type === "message") messages.push(`${event.message.role} ${markOf(event.text)}`);
    if (event.type === "text") pieces += event.text;
  }
  await own.close();
  await bench.remove();
  const answer = markOf("0123456789abcdef".repeat(times));
  expect({ messages, pieces: markOf(pieces) }).toEqual({
    messages: [`user ${markOf(prompt)}`, `assistant ${answer}`],
    pieces: answer,
  });
});
