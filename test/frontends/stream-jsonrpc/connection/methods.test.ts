import { describe, expect, test } from "vitest";
import { calls, says } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { serve } from "./served.ts";

const idIn = ({ result }: Received): string => String(result?.sessionId);

describe("initialize_session", () => {
  test("echoes the given servers without their type, and reports them as failed where there are none", async () => {
    const { client, init } = serve([]);
    const { result } = await init({
      mcpServers: [
        { name: "files", type: "stdio", command: "files", args: ["-x"], env: { A: "b" }, own: 1 },
        { name: "web", type: "http", url: "http://127.0.0.1:1/" },
      ],
    });
    expect(result?.mcpServers).toEqual([
      { name: "files", command: "files", args: ["-x"], env: { A: "b" }, own: 1 },
      { name: "web", url: "http://127.0.0.1:1/" },
    ]);
    const failed = {
      source: "dynamic",
      isManaged: false,
      status: "failed",
      error: "MCP servers cannot be used here.",
    };
    expect(await client.notice("mcp_status_changed")).toEqual({
      type: "mcp_status_changed",
      servers: [
        { name: "files", serverType: "stdio", ...failed },
        { name: "web", serverType: "http", hasAuthTokens: false, ...failed },
      ],
      summary: { total: 2, connected: 0, connecting: 0, failed: 2, disabled: 0 },
    });
    expect(storyOf(client.received)).toEqual(["settings_updated", "mcp_status_changed", "result r1"]);
  });

  test("asks nothing if the client says so, and keeps the system prompt", async () => {
    const { client, init, say, kit } = serve([calls(["Execute", { command: "git push" }]), says("pushed")]);
    const { result } = await init({ skipPermissionsUnsafe: true, systemPrompt: "Be a cat.", tags: [{ name: "a" }] });
    expect(result?.settings).toMatchObject({ systemPrompt: "Be a cat.", tags: [{ name: "a" }] });
    await say("go");
    await client.state("idle");
    expect(kit.host.commands).toHaveLength(1);
    expect(storyOf(client.received).filter((line) => line.startsWith("request"))).toEqual([]);
    expect(kit.requests[0]?.system).toContain("Be a cat.");
  });

  test("offers the requested tools, under any of their names", async () => {
    const { client, init, say, kit } = serve([calls(["Execute", { command: "ls" }]), says("no")], {
      run: { disabledTools: ["Glob"] },
    });
    await init({ disabledToolIds: ["execute-cli", "todo-write", "nonsense"] });
    await say("go");
    await client.state("idle");
    const names = kit.requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(["Execute", "TodoWrite", "Glob"].filter((name) => names.includes(name))).toEqual([]);
    expect(names).toContain("Read");
    expect((await client.notice("tool_result")).content).toContain("Unknown tool: Execute");
    const { tools } = (await client.request("droid.list_tools", {})).result as {
      tools: readonly { id: string; currentlyAllowed: boolean }[];
    };
    const off = tools.filter(({ currentlyAllowed }) => !currentlyAllowed).map(({ id }) => id);
    expect(off.sort()).toEqual(["Execute", "Glob", "TodoWrite"]);
  });
});

describe("add_user_message", () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1").toString("base64");
  const pdf = Buffer.from("%PDF-1.7 rest").toString("base64");

  test("accepts images and files, the user's own text last", async () => {
    const { client, init, say, kit } = serve([says("seen")]);
    await init();
    await say("look", {
      images: [{ type: "base64", mediaType: "image/png", data: png }],
      files: [
        { type: "base64", mediaType: "application/pdf", data: pdf, name: "a.pdf" },
        { type: "text", mediaType: "text/plain", data: "words" },
      ],
    });
    await client.state("idle");
    expect((await client.notice("create_message")).message).toMatchObject({
      content: [
        { type: "image", source: { type: "base64", mediaType: "image/png", data: png } },
        { type: "document", source: { type: "base64", mediaType: "application/pdf", data: pdf, name: "a.pdf" } },
        { type: "document", source: { type: "text", mediaType: "text/plain", data: "words" } },
        { type: "text", text: "look" },
      ],
    });
    expect(kit.requests[0]?.messages[0]?.content.map(({ type }) => type)).toEqual([
      "image",
      "document",
      "document",
      "text",
    ]);
  });

  test("with odd message ids, and malformed text, keeps everything", async () => {
    const names = ["__proto__", "constructor", "../x", "é\u2028\ud800", "m".repeat(100_000)];
    const { client, init, say } = serve(names.map(() => says("ok")));
    const sessionId = idIn(await init());
    for (const messageId of names) {
      const from = client.mark;
      expect((await say("a\u2028b\ud800c\u0000", { messageId })).result).toEqual({});
      await client.state("idle", from);
      expect((await client.notice("agent_turn_completed", from)).turnId).toBe(messageId);
    }
    await client.request("droid.close_session", {});
    const { result } = await client.request("droid.load_session", { sessionId });
    expect((result as { session: { messages: readonly object[] } }).session.messages).toHaveLength(10);
  });
});

describe("rename_session", () => {
  test("sends the title before it responds, once, and the first message does not replace it", async () => {
    const { client, init, say } = serve([says("hi")]);
    const sessionId = idIn(await init());
    const from = client.mark;
    await client.request("droid.rename_session", { title: " My\nsession " });
    await client.request("droid.rename_session", { title: "My session" });
    expect(storyOf(client.received.slice(from))).toEqual(["session_title_updated", "result r2", "result r3"]);
    expect((await client.notice("session_title_updated")).title).toBe("My session");
    await say("hello there");
    await client.state("idle");
    const { result } = await client.request("droid.load_session", { sessionId });
    expect(result?.session).toMatchObject({ title: "My session" });
  });
});
