import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processesWith } from "../../e2e/processes.ts";
import { type Bench, createBench } from "../../e2e/tinman.ts";
import { openEditor, refusal, sources, textOf } from "./fakes/acp-client.ts";
import { calls, otherwise, useEditor } from "./fakes/acp-suite.ts";

const modeIds = ["off", "low", "medium", "high", "spec"];

describe.each(sources)("%s: handshake, new sessions, and invalid messages", (source) => {
  // The model is never prompted.
  const at = useEditor(source, async () => ({ args: ["-m", "gpt-5.1"], env: { OPENAI_API_KEY: "sk-nobody" } }));

  test("the version is 1", () => {
    expect(at().editor.hello.protocolVersion).toBe(1);
  });

  test.each([0, 2, 65_535])("answers a client of version %d with 1", async (protocolVersion) => {
    const { result } = await at().editor.raw("initialize", { protocolVersion, clientCapabilities: {} });
    expect(result).toEqual(at().editor.hello);
  });

  test("the agent has a name, a title and a version", () => {
    expect(at().editor.hello.agentInfo).toEqual({
      name: "tinman",
      title: "Tinman",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
  });

  test("advertises exactly what works", async () => {
    const { editor, session } = at();
    expect(editor.hello.agentCapabilities).toEqual({
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, fork: {} },
    });
    const sessionId = session.id;
    const absent = [
      "logout",
      "session/archive",
      "session/status",
      "session/set_title",
      "providers/list",
      "auth/status",
    ];
    for (const method of absent) {
      expect([method, (await editor.raw(method, { sessionId })).error?.code]).toEqual([method, -32601]);
    }
  });

  test("offers the environment as authentication method", async () => {
    const { editor } = at();
    expect(editor.hello.authMethods?.map(({ id }) => id)).toEqual(["environment"]);
    expect(await editor.agent.request("authenticate", { methodId: "environment" })).toEqual({});
  });

  test("rejects an authentication method that was not offered", async () => {
    expect(await refusal(at().editor.agent.request("authenticate", { methodId: "magic" }))).toEqual({
      code: -32602,
      message: 'Unknown authentication method "magic".',
    });
  });

  test("a new session returns its modes", () => {
    const { modes } = at().session.state;
    expect(modes?.currentModeId).toBe("off");
    expect(modes?.availableModes.map(({ id }) => id)).toEqual(modeIds);
    expect(modes?.availableModes.every(({ name, description }) => name && description)).toBe(true);
  });

  test("a new session returns its options", () => {
    const { configOptions = [] } = at().session.state;
    const told = configOptions?.map((option) => [option.id, option.category, option.type, option.currentValue]);
    expect(told).toEqual([
      ["mode", "mode", "select", "off"],
      ["model", "model", "select", "gpt-5.1"],
      ["thought_level", "thought_level", "select", "none"],
    ]);
  });

  test("a new session returns its models in the older form", () => {
    const { models } = at().session.state as unknown as { models: Record<string, unknown> };
    expect(models).toEqual({
      currentModelId: "gpt-5.1",
      availableModels: expect.arrayContaining([
        { modelId: "gpt-5.1", name: "gpt-5.1" },
        { modelId: "offline", name: "Tinman offline" },
      ]),
    });
  });

  test("rejects a relative folder", async () => {
    expect(await refusal(at().editor.agent.request("session/new", { cwd: "project", mcpServers: [] }))).toEqual({
      code: -32602,
      message: 'The folder (cwd) must be an absolute path, got "project".',
    });
  });

  test("rejects a missing folder", async () => {
    const cwd = join(at().bench.root, "nowhere");
    expect(await refusal(at().editor.agent.request("session/new", { cwd, mcpServers: [] }))).toEqual({
      code: -32602,
      message: `The folder ${cwd} does not exist.`,
    });
  });

  test("rejects a file as a folder", async () => {
    const cwd = await at().bench.file("plain.txt", "text");
    expect(await refusal(at().editor.agent.request("session/new", { cwd, mcpServers: [] }))).toEqual({
      code: -32602,
      message: `${cwd} is not a folder.`,
    });
  });

  test("rejects additional folders, for lack of that capability", async () => {
    const { bench, editor } = at();
    const params = { cwd: bench.cwd, mcpServers: [], additionalDirectories: [bench.home] };
    expect(await refusal(editor.agent.request("session/new", params))).toMatchObject({ code: -32602 });
  });

  test.each([
    ["a program", { name: "files", command: "/bin/true", args: [], env: [] }],
    ["an HTTP server", { type: "http" as const, name: "web", url: "http://127.0.0.1:9/", headers: [] }],
  ])("%s as an unusable MCP server does not keep a session from opening", async (_, server) => {
    const { bench, editor } = at();
    const cwd = join(bench.root, `with-${server.name}`);
    await mkdir(cwd);
    const made = await editor.raw("session/new", { cwd, mcpServers: [server] });
    const { sessionId } = made.result ?? {};
    for (const method of ["session/load", "session/resume", "session/fork"]) {
      const answer = await editor.raw(method, { sessionId, cwd, mcpServers: [server] });
      expect(answer).toHaveProperty("result.modes");
    }
  });

  test.each([
    ["a program without arguments and variables", { name: "files", command: "/bin/true" }],
    ["a program with an object of variables", { name: "files", command: "/bin/true", args: [], env: { A: "b" } }],
    ["a server without headers", { type: "http", name: "web", url: "http://127.0.0.1:9/" }],
    ["an unknown kind of server", { type: "ws", name: "web", url: "ws://127.0.0.1:9/" }],
    ["nothing", {}],
    ["a text", "files"],
  ])("an MCP entry that is %s does not keep a session from opening", async (_, server) => {
    const { bench, editor } = at();
    const cwd = join(bench.root, "with-odd-servers");
    await mkdir(cwd, { recursive: true });
    const made = await editor.raw("session/new", { cwd, mcpServers: [server] });
    expect(made).toHaveProperty("result.modes");
    const { sessionId } = made.result ?? {};
    expect(await editor.raw("session/load", { sessionId, cwd, mcpServers: [server] })).toHaveProperty("result.modes");
  });

  test("each session has its own id and folder", async () => {
    const { bench, editor } = at();
    const cwd = join(bench.root, "else where");
    await mkdir(cwd);
    const session = await editor.open(cwd);
    const { sessions } = await editor.agent.request("session/list", { cwd });
    expect(sessions.map(({ sessionId, cwd: folder }) => [sessionId, folder])).toEqual([[session.id, cwd]]);
    expect(session.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(session.id).not.toBe(at().session.id);
  });

  test("answers a line of invalid JSON, and reads the next one", async () => {
    const { editor, session } = at();
    const from = editor.lines.length;
    editor.sendRaw('{"jsonrpc": "2.0", \n');
    expect((await editor.line(({ id }) => id === null, from)).error?.code).toBe(-32700);
    expect((await session.prompt("/mode")).response.stopReason).toBe("end_turn");
  });

  test("skips empty lines", async () => {
    const { editor, session } = at();
    const from = editor.lines.length;
    editor.sendRaw("\n\r\n  \n");
    await session.prompt("/mode");
    expect(editor.lines.slice(from).filter(({ message }) => message.id === null)).toEqual([]);
  });

  test.each([["[]"], ['[{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}]'], ["12"], ['"text"'], ["null"]])(
    "rejects %s as a message",
    async (text) => {
      const { editor } = at();
      const from = editor.lines.length;
      editor.sendRaw(`${text}\n`);
      expect((await editor.line(({ id }) => id === null, from)).error?.code).toBe(-32600);
    },
  );

  test.each(["session/nothing", "fs/read_text_file", "_vendor/thing", "toString", "__proto__"])(
    "rejects the unknown method %s",
    async (method) => {
      expect((await at().editor.raw(method, {})).error?.code).toBe(-32601);
    },
  );

  test("ignores unknown notifications", async () => {
    const { editor, session } = at();
    const from = editor.lines.length;
    editor.sendRaw(
      '{"jsonrpc":"2.0","method":"_vendor/thing","params":{}}\n{"jsonrpc":"2.0","method":"session/wake"}\n',
    );
    await session.prompt("/mode");
    expect(editor.lines.slice(from).filter(({ message }) => message.error !== undefined)).toEqual([]);
  });

  test("ignores a response without a request", async () => {
    const { editor, session } = at();
    editor.sendRaw(
      '{"jsonrpc":"2.0","id":4711,"result":{}}\n{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":""}}\n',
    );
    expect((await session.prompt("/mode")).response.stopReason).toBe("end_turn");
  });

  test.each([
    ["session/new", { cwd: 5, mcpServers: [] }],
    ["session/new", {}],
    ["session/new", undefined],
    ["session/prompt", { sessionId: "here", prompt: "text" }],
    ["session/prompt", { sessionId: "here", prompt: [{ type: "video", data: "" }] }],
    ["session/prompt", { sessionId: 7, prompt: [] }],
    ["session/set_mode", { sessionId: "here" }],
    ["session/set_model", { sessionId: "here", modelId: 5 }],
    ["session/fork", { sessionId: "here" }],
    ["session/load", { cwd: "/" }],
    ["authenticate", {}],
  ])("rejects the wrong parameters of %s: %j", async (method, params) => {
    const { editor, session } = at();
    const given = params !== undefined && "sessionId" in params && params.sessionId === "here" ? session.id : undefined;
    const sent = given === undefined ? params : { ...params, sessionId: given };
    expect((await editor.raw(method, sent)).error).toMatchObject({ code: -32602, data: { code: "usage" } });
  });
});

describe.each(sources)("%s: starting and ending", (source) => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await createBench();
  });
  afterEach(() => bench.remove());

  test("requires the handshake first", async () => {
    const editor = await openEditor(source, bench, { isSilent: true });
    const answers = await Promise.all([
      editor.raw("session/new", { cwd: bench.cwd, mcpServers: [] }),
      editor.raw("session/list", {}),
      editor.raw("authenticate", { methodId: "environment" }),
    ]);
    expect(answers.map(({ error }) => error?.code)).toEqual([-32600, -32600, -32600]);
    expect((await editor.raw("initialize", { protocolVersion: 1 })).result?.protocolVersion).toBe(1);
    expect((await editor.raw("session/list", {})).result).toEqual({ sessions: [] });
    expect(await editor.close()).toEqual({ code: 0, signal: null, stderr: "" });
  });

  test.each(["the end of its input", "SIGTERM"])(
    "%s ends it in the middle of a turn, with everything it runs",
    async (how) => {
      const script = await bench.script([
        calls("wait", ["Execute", { command: "echo begun; sleep 61" }]),
        ...otherwise,
      ]);
      const editor = await openEditor(source, bench, { args: ["-m", script, "--auto", "high"] });
      const session = await editor.open();
      session.prompt("wait").catch(() => undefined);
      await session.update((update) => update.sessionUpdate === "tool_call_update" && update.status === "in_progress");
      if (how === "SIGTERM") editor.kill("SIGTERM");
      const { code, signal } = await editor.close();
      expect([code, signal]).toEqual([how === "SIGTERM" ? 143 : 0, null]);
      expect(await processesWith(bench.root)).toEqual([]);
    },
  );
});

test("tinman exec -o acp is the same", async () => {
  const bench = await createBench();
  try {
    const command = ["exec", "-o", "acp", "-m", await bench.script(otherwise)];
    const editor = await openEditor("agent", bench, { command });
    const session = await editor.open();
    expect((await session.prompt("who")).response).toEqual({ stopReason: "end_turn" });
    expect(textOf(session.updates)).toBe("You said: who");
    await editor.close();
  } finally {
    await bench.remove();
  }
});
