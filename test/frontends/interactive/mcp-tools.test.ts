import { describe, expect, test } from "vitest";
import { calls, says } from "../../fakes/kit.ts";
import { createFakeServers } from "../../fakes/tool-servers.ts";
import { serve } from "./served.ts";

const look = { server: "files", tool: "look", class: "low" } as const;
const push = { server: "files", tool: "push" };

describe("a server's tools over /ws", () => {
  test("are there where the server runs the tools, under its autonomy", async () => {
    const servers = createFakeServers(look, push);
    const replies = [calls(["files___look", {}]), calls(["files___push", {}]), says("done")];
    const { connect, kit } = serve(replies, { toolExecution: "server", autonomy: "low" }, { servers: servers.open });
    const client = connect();
    const frames = await client.ask(await client.start(), "go");
    expect(kit.requests[0]?.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["files___look", "files___push"]),
    );
    expect(servers.ran).toEqual(["files___look"]);
    const results = frames.filter(({ method }) => method === "ToolResultNotification").map(({ params }) => params);
    expect(results).toMatchObject([
      { toolName: "files___look", status: 0, result: "files___look ran." },
      { toolName: "files___push", status: 1, result: expect.stringContaining('the MCP server "files"') },
    ]);
    await client.close();
  });

  test("are not there where the client runs them: no server is opened", async () => {
    const servers = createFakeServers(look);
    const { connect, kit } = serve([says("done")], {}, { servers: servers.open });
    const client = connect();
    await client.ask(await client.start({ tools: [{ name: "clock" }] }), "go");
    expect(servers.opened).toEqual([]);
    expect(kit.requests[0]?.tools.map(({ name }) => name)).toContain("clock");
    expect(JSON.stringify(kit.requests[0]?.tools)).not.toContain("___");
    await client.close();
  });
});
