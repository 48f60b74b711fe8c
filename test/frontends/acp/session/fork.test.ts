import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { createBench } from "../../../e2e/tinman.ts";

it("reports a copy's title for the copy, not for the original session", async () => {
  const bench = await createBench();
  const child = bench.start(["acp"]);
  try {
    const titles: [string, string | null | undefined][] = [];
    const { agent } = client({ name: "editor" })
      .onNotification(methods.client.session.update, ({ params: { sessionId, update } }) => {
        if (update.sessionUpdate === "session_info_update") titles.push([sessionId, update.title]);
      })
      .connect(streamOf(child));
    await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const place = { cwd: bench.cwd, mcpServers: [] };
    const { sessionId } = await agent.request<{ sessionId: string }, object>("session/new", place);
    await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: "Just reply OK." }],
    });
    const copy = await agent.request<{ sessionId: string }, object>("session/fork", { sessionId, ...place });
    // It gets its own update before the response.
    await agent.request(methods.agent.session.prompt, {
      sessionId: copy.sessionId,
      prompt: [{ type: "text", text: "/status" }],
    });
    expect(titles).toEqual([
      [sessionId, "Just reply OK."],
      [copy.sessionId, "[Fork] Just reply OK."],
    ]);
  } finally {
    // Its remaining writes must not interfere with removing its files.
    await new Promise((resolve) => {
      child.once("exit", resolve);
      child.kill();
    });
    await bench.remove();
  }
});

function streamOf({ stdin, stdout }: ReturnType<Awaited<ReturnType<typeof createBench>>["start"]>) {
  if (stdin === null || stdout === null) throw new Error("the program has no pipes");
  return ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>);
}
