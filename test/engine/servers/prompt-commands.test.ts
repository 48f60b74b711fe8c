import { describe, expect, test } from "vitest";
import { deferred } from "../../../src/async/promises.ts";
import { argumentHint, valuesIn } from "../../../src/engine/servers/prompt-arguments.ts";
import type { ServerPrompt } from "../../../src/engine/servers/tool-servers.ts";
import { ask, createKit, says } from "../../fakes/kit.ts";
import { createFakeServers } from "../../fakes/tool-servers.ts";

const of = (name: string, ...names: readonly string[]): ServerPrompt => ({
  server: "linear",
  name,
  arguments: names.map((each) => ({ name: each.replace("?", ""), required: !each.endsWith("?") })),
});
const summary = of("summary", "issue", "style?");

describe("the arguments of a command", () => {
  test.each([
    ["ENG-1", { issue: "ENG-1" }],
    ["ENG-1 short and sweet", { issue: "ENG-1", style: "short and sweet" }],
    ['"a b" "c d"', { issue: "a b", style: "c d" }],
    ["issue=ENG-1", { issue: "ENG-1" }],
    ['style="a b" issue=ENG-1', { issue: "ENG-1", style: "a b" }],
    // Not the name of an argument.
    ["a=b c", { issue: "a=b", style: "c" }],
  ])("%s", (text, values) => {
    expect(valuesIn(summary, text)).toEqual(values);
  });

  test.each([
    [summary, "", "/mcp:linear:summary lacks issue. Usage: /mcp:linear:summary <issue> [style]"],
    [summary, "style=x", "/mcp:linear:summary lacks issue. Usage: /mcp:linear:summary <issue> [style]"],
    [of("all"), "x", "/mcp:linear:all takes no arguments. Usage: /mcp:linear:all"],
  ])("must be complete: %#", (prompt, text, message) => {
    expect(() => valuesIn(prompt, text)).toThrow(message);
  });

  test("are quick to read, whatever they are", () => {
    const many = of("x", ...Array.from({ length: 20 }, (_, index) => `a${index}?`));
    expect(Object.keys(valuesIn(many, "a0=".repeat(30_000))).length).toBe(1);
    expect(argumentHint(many)).toContain("[a19]");
  });
});

const textBy = async (server: string, name: string, values: object): Promise<string> =>
  `${server} ${name} ${JSON.stringify(values)}`;

function withPrompts(acts: object = {}) {
  const servers = createFakeServers();
  servers.acts = { prompts: () => [summary], promptText: textBy, ...acts };
  return { servers, kit: createKit([says("one"), says("two")], { servers: servers.open }) };
}

const said = (kit: ReturnType<typeof createKit>, call = 0): unknown =>
  kit.requests[call]?.messages
    .findLast(({ role }) => role === "user")
    ?.content.filter(({ type }) => type !== "reminder");

describe("a message that is the command of a server's prompt", () => {
  test("is replaced by the prompt's text, once the server is connected", async () => {
    const connected = deferred<void>();
    const { servers, kit } = withPrompts();
    servers.connecting = connected.promise;
    const session = await kit.open();
    const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const;
    const handle = session.prompt([image, { type: "text", text: "/mcp:linear:summary ENG-1" }]);
    await Promise.resolve();
    expect(session.waiting()).toEqual([]);
    servers.connecting = undefined;
    connected.resolve();
    await handle.outcome;
    expect(said(kit)).toEqual([image, { type: "text", text: 'linear summary {"issue":"ENG-1"}' }]);
    await session.close();
  });

  test("keeps its place before later messages", async () => {
    const text = deferred<string>();
    const { kit } = withPrompts({ promptText: () => text.promise });
    const session = await kit.open();
    const first = ask(session, "/mcp:linear:summary ENG-1");
    const second = ask(session, "later");
    text.resolve("the text");
    await Promise.all([first, second]);
    expect([said(kit), said(kit, 1)]).toEqual([
      [{ type: "text", text: "the text" }],
      [{ type: "text", text: "later" }],
    ]);
    await session.close();
  });

  test.each([
    [
      "/mcp:linear:nothing",
      {},
      { code: "usage", message: 'Unknown command "/mcp:linear:nothing". Available: /mcp:linear:summary.' },
    ],
    ["/mcp:linear:summary", {}, { code: "usage" }],
    ["/mcp:a:b", { prompts: () => [] }, { message: 'Unknown command "/mcp:a:b". MCP servers offer no commands now.' }],
    [
      "/mcp:linear:summary x",
      { promptText: () => Promise.reject(new Error("It is gone.")) },
      { message: "It is gone." },
    ],
  ])("is refused with words if there is none: %s", async (text, acts, error) => {
    const { kit } = withPrompts(acts);
    const session = await kit.open();
    const refused = session.prompt([{ type: "text", text }]);
    const next = ask(session, "next");
    await expect(refused.accepted).rejects.toMatchObject(error);
    expect(await next).toMatchObject({ reason: "completed" });
    expect(kit.requests.length).toBe(1);
    await session.close();
  });

  test.each(["interrupt", "close"] as const)("is given up by an %s", async (act) => {
    const { kit } = withPrompts({ promptText: () => new Promise(() => undefined) });
    const session = await kit.open();
    const { accepted } = session.prompt([{ type: "text", text: "/mcp:linear:summary x" }]);
    const [settled] = await Promise.allSettled([accepted, session[act]()]);
    expect(settled).toMatchObject({ status: "rejected", reason: { code: "interrupted" } });
    if (act === "interrupt") expect(await ask(session, "again")).toMatchObject({ reason: "completed" });
    await session.close();
  });

  test("is text like any other in a session without servers, or with words before it", async () => {
    const { kit } = withPrompts();
    const own = await kit.engine.create({
      cwd: "/ws",
      settings: { modelId: "fake", reasoningEffort: "none", autonomy: "high", mode: "auto", clientRunsTools: true },
    });
    await ask(own, "/mcp:linear:summary x");
    expect(said(kit)).toEqual([{ type: "text", text: "/mcp:linear:summary x" }]);
    const session = await kit.open();
    await ask(session, "What is /mcp:linear:summary x?");
    expect(said(kit, 1)).toEqual([{ type: "text", text: "What is /mcp:linear:summary x?" }]);
    await Promise.all([own.close(), session.close()]);
  });
});
