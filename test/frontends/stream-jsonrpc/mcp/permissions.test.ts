import { describe, expect, test } from "vitest";
import { calls, says } from "../../../fakes/kit.ts";
import { strict } from "../../../fakes/rpc/sdk-strict.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { createFakeServers } from "../../../fakes/tool-servers.ts";
import { serve } from "../connection/served.ts";
import { load, only } from "../shared/sharing.ts";

const create = { server: "linear", tool: "create" };
const remove = { server: "linear", tool: "remove" };

/** Answers each request with the next choice; returns what each one asked for. */
async function answering(replies: Parameters<typeof serve>[0], ...choices: readonly string[]) {
  const servers = createFakeServers(create, remove);
  const served = serve([...replies, says("done")], { servers: servers.open });
  const { client, init, say } = served;
  await init({ autonomyLevel: "low" });
  await say("go");
  const asked: (Received & { readonly id: string })[] = [];
  for (const selectedOption of choices) {
    const request = await client.asked(asked.length === 0 ? 0 : client.received.indexOf(asked.at(-1) as Received) + 1);
    asked.push(request);
    client.answer(request.id, { selectedOption });
  }
  await client.state("idle");
  expect(client.received.flatMap((message) => strict.message(message, client.methods))).toEqual([]);
  const requests = client.received.filter(({ method }) => method === "droid.request_permission");
  const resolved = only(served, "permission_resolved").map(({ selectedOption }) => selectedOption);
  return { ...served, servers, asked, requests, resolved };
}

const namesIn = ({ params }: Received): readonly string[] =>
  (params as { readonly toolUses: readonly { readonly toolUse: { readonly name: string } }[] }).toolUses.map(
    ({ toolUse }) => toolUse.name,
  );

describe("a call of a server's tool", () => {
  test("is asked with the server, the tool and its raw arguments", async () => {
    const { asked, resolved, servers } = await answering([calls(["linear___create", { title: "x" }])], "proceed_once");
    expect(asked[0]?.params).toEqual({
      toolUses: [
        {
          toolUse: { type: "tool_use", id: "call_1", name: "linear___create", input: { title: "x" } },
          confirmationType: "mcp_tool",
          details: {
            type: "mcp_tool",
            toolName: "linear___create",
            serverName: "linear",
            actualToolName: "create",
            impactLevel: "high",
            riskLevelReason: expect.stringContaining('linear___create calls "create" of the MCP server "linear".'),
          },
        },
      ],
      options: [
        { label: "Yes, allow", value: "proceed_once", selectedColor: "#E3992A" },
        {
          label: 'Yes, and always allow "create" of "linear"',
          value: "proceed_always_tools",
          selectedColor: "#E3992A",
        },
        {
          label: 'Yes, and always allow all tools of "linear"',
          value: "proceed_always_server",
          selectedColor: "#E3992A",
        },
        { label: "No, cancel", value: "cancel", selectedColor: "#E54048", selectedPrefix: "✕ " },
      ],
    });
    expect(resolved).toEqual(["proceed_once"]);
    expect(servers.ran).toEqual(["linear___create"]);
  });

  const thrice = [calls(["linear___create", {}]), calls(["linear___create", {}]), calls(["linear___remove", {}])];

  test.each([
    ["proceed_always_tools", ["proceed_always_tools", "proceed_once"]],
    ["proceed_always", ["proceed_always_tools", "proceed_once"]],
    ["proceed_always_server", ["proceed_always_server"]],
  ])("is asked no more after %s", async (choice, expected) => {
    const { resolved, servers } = await answering(thrice, ...[choice, "proceed_once"].slice(0, expected.length));
    expect(resolved).toEqual(expected);
    expect(servers.ran).toEqual(["linear___create", "linear___create", "linear___remove"]);
  });

  test("in one request with a command: always is for the tool, and the command is allowed once", async () => {
    const both = (id: string) =>
      calls(["Execute", { command: `git push ${id}` }], ["linear___create", {}]).map((event) =>
        event.type === "tool_call" ? { ...event, id: `${event.id}${id}` } : event,
      );
    const { requests, resolved, kit, servers, client } = await answering(
      [both("a"), both("b")],
      "proceed_always_tools",
      "proceed_once",
    );
    expect(requests.map(namesIn)).toEqual([["Execute", "linear___create"], ["Execute"]]);
    expect(resolved).toEqual(["proceed_always_tools", "proceed_once"]);
    expect(kit.host.commands.length).toBe(2);
    expect(servers.ran.length).toBe(2);
    // The session's level was not raised.
    expect(JSON.stringify(client.received)).not.toContain('"autonomyLevel":"high"');
  });

  test("shows the request and the choice in each client's words", async () => {
    const servers = createFakeServers(create);
    const early = serve([calls(["linear___create", {}]), says("done")], { servers: servers.open, later: false });
    const { result } = await early.init({ autonomyLevel: "auto-low" });
    await early.say("go");
    const { id, params } = await early.client.asked();
    expect(params).toMatchObject({ options: [{}, { value: "proceed_always" }, { value: "cancel" }] });
    early.client.answer(id, { selectedOption: "proceed_always" });
    await early.client.state("idle");
    expect(only(early, "permission_resolved")).toMatchObject([{ selectedOption: "proceed_always" }]);
    early.client.end();
    await early.over;
    // Trust is not stored with the session.
    const again = serve([], { kit: early.kit });
    const loaded = await load(again, String(result?.sessionId));
    expect(JSON.stringify(loaded)).not.toContain("proceed_always");
  });
});
