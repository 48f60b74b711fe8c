import { expect, test } from "vitest";
import type { Message } from "../../../src/engine/message.ts";
import type { ModelRequest } from "../../../src/engine/ports.ts";
import type { Tool } from "../../../src/engine/tool.ts";
import { ask, calls, createKit, says, until } from "../../fakes/kit.ts";

function textOf(request: ModelRequest | undefined): string {
  const messages: readonly Message[] = request?.messages ?? [];
  return messages.flatMap(({ content }) => content.map((block) => ("text" in block ? block.text : ""))).join("\n");
}

/** A tool with a result of about 9,000 tokens. */
const dumpTool: Tool = {
  name: "Dump",
  kind: "read",
  title: "Dump",
  description: "Dumps",
  concurrent: true,
  load: async () => ({
    input: { safeParse: (data: unknown) => ({ success: true, data }) } as never,
    access: async () => [],
    run: async () => ({ text: "data ".repeat(7_200), status: "ok" }),
  }),
};

const summary = says("The summary, without the fact.");

test("the prompt of an interrupted turn stays word for word while the task goes on, and not after its end", async () => {
  const endless = async function* (_: ModelRequest, signal: AbortSignal) {
    yield { type: "text", text: "I begin." } as const;
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
    });
  };
  const kit = createKit([endless, says("done"), summary, says("well"), says("new"), summary, says("newer")]);
  const session = await kit.open();
  const first = session.prompt([{ type: "text", text: "Build it for FACT-1." }]);
  await until(() => kit.requests.length === 1);
  await session.interrupt();
  expect((await first.outcome).reason).toBe("interrupted");

  await ask(session, "continue");
  await session.compact();
  await ask(session, "hi");
  expect(textOf(kit.requests[3])).toMatch(/word for word:\n\nBuild it for FACT-1\.[\s\S]*word for word:\n\ncontinue/);

  await ask(session, "Something else. ".repeat(100));
  await session.compact();
  await ask(session, "hello");
  expect(textOf(kit.requests.at(-1))).not.toContain("FACT-1");
});

test("pruning removes old images, and keeps those of the running task", async () => {
  const dump = calls(["Dump", {}]);
  const kit = createKit([says("seen"), dump, dump, dump, says("done")], {
    tools: [dumpTool],
    model: { contextWindow: 32_000, maxOutputTokens: 1_000 },
  });
  const session = await kit.open();
  for (const text of ["old", "compare with this"]) {
    const image = { type: "image", mediaType: "image/png", data: "aWNvbg==" } as const;
    expect((await session.prompt([{ type: "text", text }, image]).outcome).reason).toBe("completed");
  }
  expect(kit.requests.some(({ purpose }) => purpose === "summary")).toBe(false);
  const last = kit.requests.at(-1)?.messages ?? [];
  expect(JSON.stringify(last)).toContain("was removed to save room");
  const withImage = last.filter(({ content }) => content.some(({ type }) => type === "image"));
  expect(withImage.map(({ content }) => content[0])).toEqual([{ type: "text", text: "compare with this" }]);
});

test("after a refused first prompt, the next one comes with the environment and AGENTS.md", async () => {
  const kit = createKit([says("hello"), says("again")], {
    reminders: ["You are in /ws."],
    model: { contextWindow: 20_000 },
  });
  const session = await kit.open();
  expect(await ask(session, "words ".repeat(20_000))).toMatchObject({ reason: "context_full" });
  await ask(session, "hi");
  expect(textOf(kit.requests[0])).toContain("You are in /ws.");
  await ask(session, "hi");
  expect(textOf(kit.requests[1]).split("You are in /ws.")).toHaveLength(2);
});

test("a prompt that fits only without all of AGENTS.md gets the beginning and the end of it", async () => {
  const agents = `RULE-1 ${"and a rule ".repeat(2_000)} RULE-2`;
  const kit = createKit([says("done"), says("well")], { reminders: [agents], model: { contextWindow: 20_000 } });
  const session = await kit.open();
  expect(await ask(session, "words ".repeat(6_500))).toMatchObject({ reason: "completed" });
  expect(textOf(kit.requests[0])).toMatch(/RULE-1[\s\S]*shortened to save room[\s\S]*RULE-2/);
});
