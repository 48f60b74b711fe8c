import { expect, it, onTestFinished } from "vitest";
import type { Answer, Interaction } from "../../src/engine/interaction.ts";
import type { NamedServer } from "../../src/engine/servers/server-entry.ts";
import { systemClock } from "../../src/host/clock-and-ids.ts";
import { createServerStarter } from "../../src/host/processes/server-process.ts";
import { createOpenServers } from "../../src/mcp/open-servers.ts";
import { createSignIns } from "../../src/mcp/sign-in/sign-ins.ts";
import { checkImage } from "../../src/tools/read/read-image.ts";
import { ask, calls, createKit, says, settings } from "../fakes/kit.ts";
import { memorySources, script } from "./sessions.ts";

const odd: NamedServer = { name: "odd", entry: { ...script("odd.mjs"), tools: { echo: "medium" } } };

it("a turn calls tools of a server by their classes, and shows approvers server and tool", async () => {
  const servers = createOpenServers({
    clock: systemClock,
    sources: memorySources(),
    startProgram: createServerStarter({ sandbox: () => Promise.reject(new Error("no sandbox")) }),
    contain: () => Promise.reject(new Error("no sandbox")),
    release: async () => undefined,
    fetch: async () => globalThis.fetch,
    signIns: async () => createSignIns({ home: "/nowhere", clock: systemClock, fetch: async () => globalThis.fetch }),
    checkImage: async (bytes) => checkImage(bytes),
  });
  const call = (tool: string, input = {}) => calls([`odd___${tool}`, input]);
  const kit = createKit([call("look"), call("echo", { a: 1 }), call("where"), says("done")], { servers });
  const session = await kit.engine.create({
    cwd: process.cwd(),
    settings: { ...settings, autonomy: "medium" },
    run: { servers: [odd] },
  });
  onTestFinished(() => session.close());
  const asked: Interaction[] = [];
  const answers: readonly Answer[] = [{ kind: "cancel" }];
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  void (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      attachment.answer(event.requestId, answers[asked.length] ?? { kind: "cancel" });
      asked.push(event.interaction);
    }
  })();
  expect(await ask(session, "go")).toMatchObject({ reason: "cancelled" });
  const results = session
    .history()
    .flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? [[block.status, block.text]] : [])),
    );
  expect(results).toEqual([
    ["ok", "version 1"],
    ["ok", 'echo {"a":1}, cancelled []'],
    ["refused", "Error: Tool execution cancelled by user"],
  ]);
  expect(asked).toMatchObject([
    {
      kind: "permission",
      calls: [{ decision: { class: "high" }, preview: { type: "server", server: "odd", tool: "where" } }],
    },
  ]);
});
