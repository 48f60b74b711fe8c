import { expect, it } from "vitest";
import { openSession, program } from "./sessions.ts";

const everything = program("@modelcontextprotocol/server-everything");

it("offers the tools of a server, and calls them", async () => {
  const session = openSession({ given: { everything } });
  const state = { name: "everything", source: "client", kind: "stdio" };
  expect(session.servers.states()).toEqual([{ ...state, status: "connecting" }]);
  await session.settled();
  expect(session.servers.states()).toEqual([{ ...state, status: "connected", toolCount: 15, promptCount: 4 }]);
  const [echo] = session.servers.list();
  expect(echo).toMatchObject({
    name: "everything___echo",
    kind: "read",
    title: "echo (everything)",
    description: "Echoes back the input string",
  });
  expect(await session.call("everything___echo", { message: "hi" })).toEqual({ status: "ok", text: "Echo: hi" });
  expect(await session.call("everything___echo", {})).toMatchObject({ status: "failed" });
});
