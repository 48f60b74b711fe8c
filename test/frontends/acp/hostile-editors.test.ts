import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, createBench } from "../../e2e/tinman.ts";
import { isFullRun } from "../../full-run.ts";
import { isAlive, until } from "../../sdk/fakes/stand-ins.ts";
import { chooses, choosesNothing, type Editor, openEditor, textOf } from "./fakes/raw-editor.ts";

/* Editors that send or answer what they should not, or leave at the wrong time. */

let bench: Bench;
let editor: Editor;
let sessionId: string;

const touch = (file: string) => ({ name: "Execute", input: { command: `touch ${file}`, riskLevel: "low" } });
const replies = [
  { when: { user: "two files" }, times: "any", tool_calls: [touch("one"), touch("two")] },
  {
    when: { user: "a plan" },
    times: "any",
    tool_calls: [{ name: "ExitSpecMode", input: { plan: "P", title: "\u202ePlan\n\u0007" } }],
  },
  {
    when: { user: "wait" },
    times: "any",
    tool_calls: [{ name: "Execute", input: { command: "echo $$ > pid; exec sleep 1000", riskLevel: "low" } }],
  },
  { when: { user: "touch" }, times: "any", tool_calls: [touch("touched")] },
  { when: { user: "slow" }, times: "any", text: ["Slow", " words"], chunk_delay_ms: 60_000 },
  { when: { after_tool: "Execute" }, times: "any", text: "Ran." },
  { times: "any", text: "You said {{user}}." },
];

let model: string;

beforeAll(async () => {
  bench = await createBench();
  model = await bench.script(replies);
  editor = openEditor(bench, { args: ["-m", model] });
  await editor.hello();
  sessionId = await editor.open(bench.cwd);
});

afterAll(async () => {
  expect(await editor.leave()).toMatchObject({ code: 0, signal: null });
  await bench.remove();
});

const endTurn = { result: { stopReason: "end_turn" } };
const deep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("an invalid message", () => {
  const call = (id: string, more = ""): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"session/prompt","params":{"sessionId":"none","prompt":[]}${more}}`;

  it.each([
    ["no JSON", "}{", -32700],
    ["half a message", '{"jsonrpc":"2.0","id":1,', -32700],
    ["invalid UTF-8", Buffer.from([0xff, 0xfe, 0x00, 0x80]), -32700],
    ["33 MiB in a line", `{"x":"${"x".repeat(33 * 1024 * 1024)}"}`, -32700],
    ["too many values", deep(50_000), -32700],
    ["a number", "7", -32600],
    ["null", "null", -32600],
    ["a text", '"initialize"', -32600],
    ["a batch", `[${call("1")},${call("2")}]`, -32600],
    ["an empty batch", "[]", -32600],
    ["an empty object", "{}", -32600],
    ["a call of another version", call("1").replace("2.0", "1.0"), -32600],
    ["a method that is not a string", '{"jsonrpc":"2.0","id":1,"method":{}}', -32600],
    ["an id that is an object", call("{}"), -32600],
    ["an id that is a list", call("[1]"), -32600],
    ["a boolean id", call("true"), -32600],
    ["an unbounded id", call("1e999"), -32600],
    ["deeply nested, and not a call", `{"id":{},"method":"x","params":${deep(19_000)}}`, -32600],
  ])("%s is answered, and the conversation continues", async (_, line, code) => {
    const from = editor.wire.received.length;
    editor.wire.sendRaw(typeof line === "string" ? `${line}\n` : Buffer.concat([line, Buffer.from("\n")]));
    const answer = await editor.wire.waitFor(({ error }) => error !== undefined, "an error", from);
    expect(answer).toMatchObject({ id: null, error: { code } });
    // The text is not echoed.
    expect(JSON.stringify(answer).length).toBeLessThan(300);
  });

  it.each(["7.5", "-1", '""', "null", '"\u0000"', '"constructor"', '"__proto__"'])(
    "a call with the id %s is answered under it",
    async (id) => {
      const from = editor.wire.received.length;
      editor.wire.sendRaw(`${call(JSON.stringify(JSON.parse(id.replace("\u0000", "\\u0000"))))}\n`);
      const answer = await editor.wire.waitFor(({ error }) => error !== undefined, "an error", from);
      expect(answer).toMatchObject({ id: JSON.parse(id.replace("\u0000", "\\u0000")), error: { code: -32002 } });
    },
  );

  it("a call with deep parameters is rejected under its id", async () => {
    const from = editor.wire.received.length;
    editor.wire.sendRaw(`{"jsonrpc":"2.0","id":"deep","method":"session/new","params":${deep(19_000)}}\n`);
    const answer = await editor.wire.waitFor(({ id }) => id === "deep", "an error", from);
    expect(answer).toMatchObject({ error: { code: -32602 } });
  });

  it("a call with too many values is rejected under its id", async () => {
    const values = Array.from({ length: 30_000 }, () => 0);
    expect(await editor.request("session/prompt", { sessionId, values }, "many")).toMatchObject({
      error: { code: -32700 },
    });
  });

  it("unknown responses and notifications are ignored", async () => {
    const from = editor.wire.received.length;
    for (const id of [-1, "x", null, 1e6, {}, []]) editor.wire.send({ jsonrpc: "2.0", id, ...chooses("proceed_once") });
    editor.wire.send({ result: {} });
    editor.wire.send({ jsonrpc: "2.0", id: 5, error: "no" });
    editor.notify("no/such", {});
    editor.notify("session/cancel", { sessionId: "none" });
    editor.notify("session/cancel", { sessionId: 7 });
    editor.notify("$/cancel_request", { requestId: {} });
    expect(await editor.prompt(sessionId, "hello")).toEqual(endTurn);
    expect(editor.wire.received.slice(from).filter(({ error }) => error !== undefined)).toEqual([]);
  });
});

describe("a prompt", () => {
  it("with control characters reaches the model, and half a character comes back whole", async () => {
    const text = "a\u0000b\u001b[31mc\u202ed\r\n\u2028e\ud800";
    const from = editor.updates(sessionId).length;
    expect(await editor.prompt(sessionId, text)).toEqual(endTurn);
    expect(textOf(editor.updates(sessionId).slice(from))).toBe(`You said ${text.toWellFormed()}.`);
  });
});

describe("a permission", () => {
  it.each([
    ["an option that was not offered", [chooses("proceed_always_and_ever")]],
    ["an error", [{ error: { code: 1, message: "no" } }]],
    ["an unreadable result", [{ result: { outcome: "proceed_once" } }]],
    ["a no followed by a yes", [choosesNothing, chooses("proceed_once")]],
  ])("is not granted by %s", async (_, answers) => {
    editor.answers = ({ id }) => {
      for (const answer of answers) editor.wire.send({ jsonrpc: "2.0", id, ...answer });
      return undefined;
    };
    expect(await editor.prompt(sessionId, "touch it")).toEqual(endTurn);
    editor.answers = () => undefined;
    await expect(bench.read("touched")).rejects.toThrow("ENOENT");
  });

  it("for several calls is granted if each is allowed", async () => {
    const shown: unknown[] = [];
    editor.answers = ({ params }) => {
      shown.push((params.toolCall as { rawInput: unknown }).rawInput);
      return shown.length === 1 ? chooses("proceed_once") : choosesNothing;
    };
    expect(await editor.prompt(sessionId, "two files")).toEqual(endTurn);
    editor.answers = () => undefined;
    expect(shown).toEqual([touch("one").input, touch("two").input]);
    await expect(bench.read("one")).rejects.toThrow("ENOENT");
  });

  it("without an answer ends with the cancel, and a late answer has no effect", async () => {
    const before = editor.asked.length;
    const turn = editor.prompt(sessionId, "two files");
    const { id } = await editor.waitForAsked(before + 1);
    editor.notify("session/cancel", { sessionId });
    expect(await turn).toEqual({ result: { stopReason: "cancelled" } });
    editor.wire.send({ jsonrpc: "2.0", id, ...chooses("proceed_once") });
    expect(await editor.prompt(sessionId, "hello")).toEqual(endTurn);
    expect(editor.asked.length).toBe(before + 1);
    await expect(bench.read("one")).rejects.toThrow("ENOENT");
  });

  it("for a plan shows hidden characters in its title", async () => {
    await editor.request("session/set_mode", { sessionId, modeId: "spec" });
    editor.answers = () => choosesNothing;
    expect(await editor.prompt(sessionId, "a plan")).toEqual(endTurn);
    editor.answers = () => undefined;
    await editor.request("session/set_mode", { sessionId, modeId: "off" });
    expect(editor.asked.at(-1)?.params.toolCall).toMatchObject({ title: String.raw`\u{202e}Plan \u{7}` });
  });
});

describe("an editor that sends requests without reading", () => {
  it("cannot fill the memory, and gets all its responses once it reads", async () => {
    const child = bench.start(["acp"]);
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error("no pipes");
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const most = isFullRun ? 100_000 : 30_000;
    const line = (id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"session/prompt","params":{"sessionId":"${"x".repeat(150)}","prompt":[]}}\n`;
    let answered = 0;
    const text = Array.from({ length: most }, (_, id) => line(id)).join("");
    stdin.write(text);
    // It has stopped once it leaves data in its pipe unread.
    const cpu = (): string => readFileSync(`/proc/${child.pid}/stat`, "utf8").split(" ").slice(13, 15).join(" ");
    for (let before = "", same = 0; same < 5; ) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      same = cpu() === before ? same + 1 : 0;
      before = cpu();
    }
    const kib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);
    stdout.setEncoding("utf8");
    stdout.on("data", (piece: string) => {
      answered += piece.split("\n").length - 1;
    });
    stdin.end();
    expect([await ended, answered]).toEqual([0, most]);
    // All responses, if kept, would need half as much again.
    expect(kib).toBeLessThan(130 * 1024);
  });

  it("has a limited number of prompts under way", async () => {
    const id = await editor.open(bench.cwd);
    const answers: unknown[] = [];
    const stop = editor.wire.subscribe(({ id: of, result, error }) => {
      if (String(of).startsWith("flood")) answers.push(result?.stopReason ?? error?.message);
    });
    const prompt = [{ type: "text", text: "slow" }];
    const lines = Array.from({ length: 1_010 }, (_, nth) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: `flood ${nth}`,
        method: "session/prompt",
        params: { sessionId: id, prompt },
      }),
    );
    editor.wire.sendRaw(`${lines.join("\n")}\n`);
    await until(() => answers.length === 10);
    expect(answers).toEqual(answers.map(() => expect.stringContaining("Too many requests at once")));
    editor.notify("session/cancel", { sessionId: id });
    await until(() => answers.length === lines.length);
    stop();
    expect([...new Set(answers.slice(10))]).toEqual(["cancelled"]);
    expect(await editor.prompt(id, "hello")).toEqual(endTurn);
  });
});

describe("an editor that leaves in the middle of a turn", () => {
  it.each([
    ["dies", ({ wire }: Editor) => [wire.hangUp(), wire.eof()]],
    ["closes only its reading end", ({ wire }: Editor) => [wire.hangUp()]],
    ["closes only its writing end", ({ wire }: Editor) => [wire.eof()]],
  ])("with %s leaves nothing behind", async (name, goes) => {
    const one = openEditor(bench, { args: ["-m", model, "--auto", "high"] });
    await one.hello();
    const cwd = (await bench.shell(`mkdir -p '../${name}' && cd '../${name}' && pwd -P`)).stdout.trim();
    const id = await one.open(cwd);
    one.prompt(id, "wait").catch(() => undefined);
    const pid = (): number => Number(readFileSync(`${cwd}/pid`, "utf8"));
    await until(() => {
      try {
        return pid() > 0;
      } catch {
        return false;
      }
    });
    goes(one);
    // It notices that the reader is gone when it writes.
    one.notify("session/cancel", { sessionId: id });
    await one.wire.exit();
    await until(() => !isAlive(pid()));
  });
});

it("does not wait forever for an editor that closed its side and does not read", async () => {
  const child = bench.start(["acp"]);
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  // More than fits into a pipe.
  const lines = Array.from({ length: 500 }, (_, id) =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params: { protocolVersion: 1 } }),
  );
  child.stdin?.end(`${lines.join("\n")}\n`);
  expect(await ended).toBe(0);
});
