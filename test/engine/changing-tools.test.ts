import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fixedTools, type ToolSource } from "../../src/engine/calls/tool-source.ts";
import type { ModelEvent } from "../../src/engine/ports.ts";
import type { Session } from "../../src/engine/session/session.ts";
import { SessionTools } from "../../src/engine/session/session-tools.ts";
import { defineTool, succeeded, type Tool } from "../../src/engine/tool.ts";
import { ask, calls, createKit, info, says } from "../fakes/kit.ts";

interface Changing extends ToolSource {
  set(...tools: readonly Tool[]): void;
}

/** A source whose tools come and go, like a server's. */
function changing(...first: readonly Tool[]): Changing {
  let tools = first;
  let version = 0;
  return {
    get version() {
      return version;
    },
    list: () => tools,
    set(...now) {
      tools = now;
      version += 1;
    },
  };
}

function tool(name: string, run: () => void = () => undefined): Tool {
  const body = defineTool({
    input: z.unknown(),
    access: async () => [],
    run: async () => {
      run();
      return succeeded(`${name} ran.`);
    },
  });
  return { name, kind: "read", title: name, description: name, concurrent: false, load: async () => body };
}

function resultsIn(session: Session): unknown[] {
  return session.history().flatMap((message) => (message.role === "tool" ? message.content : []));
}

const [A, B, C] = [tool("A"), tool("B"), tool("C")];
const result = (callId: string, name: string, text: string, status = "ok") => {
  return { type: "tool_result", callId, name, status, text };
};
const goneText = (name: string): string => `Error: The tool ${name} is no longer available. Nothing was run.`;

test("a new tool is offered with the next model call, after the existing ones", async () => {
  const source = changing(A, B);
  const kit = createKit([calls(["A", {}]), calls(["C", {}]), says("ok")], { tools: source });
  const session = await kit.open();
  source.set(
    tool("A", () => source.set(C, A, B)),
    B,
  );
  expect(await ask(session, "go")).toMatchObject({ reason: "completed" });
  expect(kit.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ["A", "B"],
    ["A", "B", "C"],
    ["A", "B", "C"],
  ]);
  expect(resultsIn(session)).toEqual([result("call_1", "A", "A ran."), result("call_1", "C", "C ran.")]);
  await session.close();
});

test("a tool that returns keeps its place, whatever its source's order", async () => {
  const source = changing(A, B, C);
  const kit = createKit([says("1"), says("2"), says("3")], { tools: source });
  const session = await kit.open();
  await ask(session, "one");
  source.set(C, A);
  await ask(session, "two");
  source.set(C, B, A);
  await ask(session, "three");
  expect(kit.requests.map(({ tools }) => tools.map(({ name }) => name).join(""))).toEqual(["ABC", "AC", "ABC"]);
  await session.close();
});

describe("a reply can call its offered tools", () => {
  test("but not one that arrived while it was written", async () => {
    const source = changing(A);
    const reply = (): readonly ModelEvent[] => {
      source.set(A, B);
      return calls(["A", {}], ["B", {}]);
    };
    const kit = createKit([() => play(reply()), says("ok")], { tools: source });
    const session = await kit.open();
    await ask(session, "go");
    expect(resultsIn(session)).toEqual([
      result("call_1", "A", "A ran."),
      result("call_2", "B", "Error: Unknown tool: B. Available tools: A", "failed"),
    ]);
    await session.close();
  });

  test("and learns of a tool that was removed while it was written", async () => {
    const source = changing(A, B);
    const reply = (): readonly ModelEvent[] => {
      source.set(A);
      return calls(["B", {}], ["A", {}]);
    };
    const kit = createKit([() => play(reply()), says("ok")], { tools: source });
    const session = await kit.open();
    expect(await ask(session, "go")).toMatchObject({ reason: "completed" });
    expect(resultsIn(session)).toEqual([
      result("call_1", "B", goneText("B"), "failed"),
      result("call_2", "A", "A ran."),
    ]);
    await session.close();
  });

  test("and learns of a tool that was removed while another call of it ran", async () => {
    const source = changing();
    source.set(
      tool("A", () => source.set(A)),
      B,
    );
    const kit = createKit([calls(["A", {}], ["B", {}]), says("ok")], { tools: source });
    const session = await kit.open();
    await ask(session, "go");
    expect(resultsIn(session)).toEqual([
      result("call_1", "A", "A ran."),
      result("call_2", "B", goneText("B"), "failed"),
    ]);
    await session.close();
  });

  test("and learns of a tool that was removed while it was loaded", async () => {
    const source = changing();
    const load = async (): Promise<never> => {
      source.set(A);
      throw new Error("The server is gone.");
    };
    source.set(A, { ...B, load });
    const kit = createKit([calls(["B", {}]), says("ok")], { tools: source });
    const session = await kit.open();
    await ask(session, "go");
    expect(resultsIn(session)).toEqual([result("call_1", "B", goneText("B"), "failed")]);
    await session.close();
  });

  test("and a tool that exists but fails to load fails the turn", async () => {
    const load = (): Promise<never> => Promise.reject(new Error("Broken."));
    const kit = createKit([calls(["B", {}])], { tools: [{ ...B, load }] });
    const session = await kit.open();
    expect(await ask(session, "go")).toMatchObject({
      reason: "failed",
      failure: { code: "internal", message: "Broken." },
    });
    await session.close();
  });
});

test("client tools can be called even after being removed here", async () => {
  const source = changing(A);
  const tools = new SessionTools(source, { clientRunsTools: true }, {}, async () => ({}));
  const [offered] = tools.offer(info, "auto").tools;
  source.set();
  expect([offered?.name, offered !== undefined && tools.isThere(offered), tools.list()]).toEqual(["A", true, []]);
});

interface Case {
  readonly source: ToolSource;
  /** Makes it list other tools. */
  change?(): void;
  /** The names it lists, before and after. */
  readonly lists: readonly (readonly string[])[];
}

describe.each([
  ["tools that stay", () => ({ source: fixedTools([A, B]), lists: [["A", "B"]] })],
  [
    "tools that come and go",
    () => {
      const source = changing(A, B);
      return { source, change: () => source.set(B), lists: [["A", "B"], ["B"]] };
    },
  ],
  [
    "a session's tools, over others that change",
    () => {
      const own = changing(A, B);
      const source = new SessionTools(own, {}, {}, async () => ({}));
      return { source, change: () => own.set(B), lists: [["A", "B"], ["B"]] };
    },
  ],
  [
    "a session's tools, limited by its client",
    () => {
      const source = new SessionTools(fixedTools([A, B]), {}, {}, async () => ({}));
      return { source, change: () => source.limit((name) => name === "B"), lists: [["A", "B"], ["B"]] };
    },
  ],
] as readonly (readonly [string, () => Case])[])("a source of %s", (_, make) => {
  test("has one version per list, and a higher one for another", () => {
    const { source, change, lists } = make();
    const before = { version: source.version, list: source.list() };
    expect([source.version, source.list()]).toEqual([before.version, before.list]);
    expect(before.list.map(({ name }) => name)).toEqual(lists[0]);
    change?.();
    expect(source.version > before.version).toBe(change !== undefined);
    expect(source.list().map(({ name }) => name)).toEqual(lists.at(-1));
  });
});

async function* play(events: readonly ModelEvent[]): AsyncGenerator<ModelEvent> {
  yield* events;
}
