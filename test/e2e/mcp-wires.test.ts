import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSession } from "../../src/sdk/node.ts";
import type { TurnEvent } from "../../src/sdk/types.ts";
import { orderFaults } from "../fakes/rpc/sdk-order.ts";
import { checkAll } from "../fakes/rpc/sdk-strict.ts";
import { noticesIn, openWire } from "../fakes/rpc/wire.ts";
import { startProgram, userOf } from "../fakes/ws/program.ts";
import { openEditor, textOf } from "../frontends/acp/fakes/raw-editor.ts";
import { over } from "./serve/over-rpc.ts";
import { type Bench, createBench } from "./tinman.ts";

/** One scripted conversation with a real server over each wire of the built program. */

const folder = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"));
const started = { command: process.execPath, args: [join(folder, "dist/index.js")] };
const everything = { name: "everything", type: "stdio", ...started } as const;

const sum = { name: "everything___get-sum", input: { a: 2, b: 3 } };
const image = { name: "everything___get-tiny-image", input: {} };
const replies = [{ tool_calls: [sum] }, { tool_calls: [image] }, { text: "The sum is 5, and the picture is small." }];

let bench: Bench;

beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

test("stream-jsonrpc: tools, images, trust in a server, prompts as commands", async () => {
  const wire = openWire(bench, { args: ["-m", await bench.script([...replies, { text: "As you wish." }])] });
  wire.subscribe((message) => {
    if (message.type === "request") wire.answer(message, { selectedOption: "proceed_always_server" });
  });
  const more = { autonomyLevel: "off", mcpServers: [everything] };
  await wire.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd, ...more });
  await wire.request("droid.add_user_message", { text: "Add and draw.", messageId: "mine" });
  await wire.waitForNotice("agent_turn_completed", 0, { turnId: "mine", reason: "completed" });
  const { result: tools } = await wire.request("droid.list_mcp_tools", {});
  expect(tools?.tools).toContainEqual(expect.objectContaining({ serverName: "everything", name: "get-sum" }));
  const { result } = await wire.request("droid.list_commands", {});
  expect(result?.commands).toContainEqual(expect.objectContaining({ name: "mcp:everything:simple-prompt" }));
  const from = wire.received.length;
  await wire.request("droid.add_user_message", { text: "/mcp:everything:simple-prompt", messageId: "next" });
  await wire.waitForNotice("agent_turn_completed", 0, { turnId: "next" });
  wire.eof();
  expect(await wire.exit()).toEqual({ code: 0, signal: null, stderr: "" });

  const notices = noticesIn(wire.received);
  const of = (type: string) => notices.filter((notice) => notice.type === type);
  expect(of("mcp_status_changed").at(-1)).toMatchObject({
    servers: [{ name: "everything", source: "dynamic", status: "connected", serverType: "stdio" }],
    summary: { total: 1, connected: 1 },
  });
  expect(wire.received.filter(({ type }) => type === "request").length).toBe(1);
  expect(of("permission_resolved")).toMatchObject([{ selectedOption: "proceed_always_server" }]);
  const [added, drawn] = of("tool_result");
  expect(added).toMatchObject({ isError: false, content: expect.stringContaining("5") });
  expect(JSON.stringify(drawn)).toContain('"mediaType":"image/png"');
  const [command] = noticesIn(wire.received.slice(from)).filter(({ type }) => type === "create_message");
  expect(JSON.stringify(command)).toContain("simple prompt");
  expect(checkAll(wire.received, wire.sent)).toEqual([]);
  expect(orderFaults(wire.received, wire.sent)).toEqual([]);
});

test("ACP: tools with titles, permission for a server, commands", async () => {
  const editor = openEditor(bench, {
    args: ["-m", await bench.script(replies)],
    capabilities: { session: { notices: {} } },
    answers: () => ({ result: { outcome: { outcome: "selected", optionId: "proceed_always_server" } } }),
  });
  await editor.hello();
  const { type: _, ...server } = everything;
  const sessionId = await editor.open(bench.cwd, { mcpServers: [{ ...server, env: [] }] });
  await editor.waitForUpdate(
    sessionId,
    ({ sessionUpdate, availableCommands }) =>
      sessionUpdate === "available_commands_update" && JSON.stringify(availableCommands).includes("mcp:everything:"),
  );
  expect(await editor.prompt(sessionId, "Add and draw.")).toEqual({ result: { stopReason: "end_turn" } });
  const updates = editor.updates(sessionId);
  expect(await editor.leave()).toEqual({ code: 0, signal: null, stderr: "" });
  expect(textOf(updates)).toContain("The sum is 5");
  expect(updates).toContainEqual(
    expect.objectContaining({ sessionUpdate: "tool_call", title: 'everything: get-sum {"a":2,"b":3}' }),
  );
  expect(editor.asked.map(({ params }) => JSON.stringify(params.options))).toEqual([
    expect.stringMatching(/proceed_once.*proceed_always_tools.*proceed_always_server.*cancel/),
  ]);
  expect(JSON.stringify(updates)).toContain('"mimeType":"image/png"');
  expect(updates.filter(({ sessionUpdate }) => sessionUpdate === "notice")).toEqual([]);
});

const configured = { mcp: { servers: { own: started } } };
const answering = [
  { when: { after_tool: "own___get-sum" }, text: "It is {{tool_result}}", times: "any" },
  { when: { after_tool: sum.name }, text: "It is {{tool_result}}", times: "any" },
  { when: { user: "own" }, tool_calls: [{ ...sum, name: "own___get-sum" }], times: "any" },
  { text: "Let me see.", tool_calls: [sum], times: "any" },
];

test("/rpc and the SDK: an admin's own server; /ws: the configured one, under the server's autonomy", async () => {
  const [ada, ann] = [userOf("ada", "admin"), userOf("ann", "user")];
  const program = await startProgram(bench, {
    model: await bench.script(answering),
    auth: true,
    config: {
      ...configured,
      serve: { users: [ada.entry, ann.entry] },
      interactive: { toolExecution: "server", autonomy: "high" },
    },
  });
  const server = { url: `${program.url.replace("http", "ws")}/ws` };
  const refused = createSession({ ...over(server, ann.token), cwd: bench.cwd, mcpServers: [everything] });
  await expect(refused).rejects.toThrow("mcpServers");

  const events: TurnEvent[] = [];
  const session = await createSession({
    ...over(server, ada.token),
    cwd: bench.cwd,
    autonomyLevel: "high",
    mcpServers: [everything],
    onEvent: (event) => events.push(event),
  });
  expect((await session.send("Add.")).text).toMatch(/It is .*5/);
  expect(await session.mcp.servers()).toMatchObject([
    { name: "own", status: "connected", source: "user" },
    { name: "everything", status: "connected", source: "dynamic" },
  ]);
  expect(events).toContainEqual(expect.objectContaining({ type: "mcp_servers" }));
  await session.close();

  const client = await program.connect({ token: ann.token });
  const { result } = await client.request("startSession", { userId: "u" });
  await client.request("sendUserMessage", { sessionId: result?.sessionId, message: "Add with your own." });
  const told = await client.until(({ method }) => method === "ToolResultNotification");
  expect(told.params).toMatchObject({ toolName: "own___get-sum", status: 0, result: expect.stringContaining("5") });
  client.socket.close();
  program.kill("SIGTERM");
  expect(await program.exit).toEqual({ code: 0, signal: null });
  expect(program.log()).toContainEqual(
    expect.objectContaining({ event: "mcp.changed", server: "own", status: "connected" }),
  );
});

test("exec: the first turn has the tools, and a server that fails is named without stopping the run", async () => {
  await mkdir(join(bench.home, ".tinman"), { recursive: true });
  const servers = { own: started, gone: { command: "/nonexistent/server" } };
  await writeFile(join(bench.home, ".tinman", "config.yaml"), JSON.stringify({ mcp: { servers } }));
  const model = await bench.script(answering);
  const args = ["exec", "-m", model, "--auto", "high", "Add with your own."];
  const text = await bench.tinman(args);
  expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/It is .*5/) });
  expect(text.stderr).toMatch(/^tinman: The MCP server gone failed: .+\n$/);
  const lines = (await bench.tinman([...args.slice(0, -1), "-o", "stream-json", "Add with your own."])).stdout;
  expect(lines).toMatch(/"type":"notice","level":"warning","message":"The MCP server gone failed: /);
  expect(lines).toContain('"toolName":"own___get-sum"');
});
