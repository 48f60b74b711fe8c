import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Answer } from "../../../src/engine/interaction.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import type { Tool, ToolOutput } from "../../../src/engine/tool.ts";
import { defineTool, succeeded } from "../../../src/engine/tool.ts";
import { builtinTools } from "../../../src/tools/all.ts";
import { ask, calls, createKit, info, listen, says, settings, until } from "../../fakes/kit.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";

/** A client that gives every request the same answer, and records the requests. */
function attachApprover(session: Session, answer: Answer) {
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const asked: unknown[] = [];
  void (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      asked.push(event.interaction);
      attachment.answer(event.requestId, answer);
    }
  })();
  return { asked, attachment };
}

/** A tool that needs no decision. */
function simpleTool(name: string, concurrent: boolean, run: () => Promise<ToolOutput>): Tool {
  const body = defineTool({ input: z.object({}), access: async () => [], run });
  return { name, kind: "read", title: name, description: name, concurrent, load: async () => body };
}

/** A tool that only reads, and finishes on demand. */
function gated(name: string, gates: Map<string, () => void>, log: string[]): Tool {
  return simpleTool(name, true, async () => {
    log.push(`${name} started`);
    await new Promise<void>((resolve) => gates.set(name, resolve));
    log.push(`${name} ended`);
    return succeeded(name);
  });
}

const results = (session: Session) =>
  session
    .history()
    .filter(({ role }) => role === "tool")
    .at(-1)?.content;

describe("running", () => {
  test("runs read-only calls together, and reports results in call order", async () => {
    const gates = new Map<string, () => void>();
    const log: string[] = [];
    const tools = ["A", "B", "C"].map((name) => gated(name, gates, log));
    const kit = createKit([calls(["A", {}], ["B", {}], ["C", {}]), says("done")], { tools });
    const session = await kit.open();
    const heard = listen(session);
    const outcome = ask(session, "go");
    await until(() => gates.size === 3);
    for (const name of ["C", "A", "B"]) {
      gates.get(name)?.();
      await until(() => log.includes(`${name} ended`));
    }
    await outcome;
    await heard.stop();
    const told = heard.events.flatMap((event) => (event.type === "tool.ended" ? [event.result.name] : []));
    expect(told).toEqual(["A", "B", "C"]);
  });

  test("a writing call waits for those before it, and those after wait for it", async () => {
    const host = createMemoryHost({ "/ws/a.txt": "old" });
    const kit = createKit(
      [
        calls(
          ["Read", { file_path: "a.txt" }],
          ["Create", { file_path: "a.txt", content: "new" }],
          ["Read", { file_path: "a.txt" }],
        ),
        says("done"),
      ],
      { host },
    );
    const session = await kit.open();
    await ask(session, "go");
    expect(results(session)).toMatchObject([{ text: "old" }, { text: "File created successfully" }, { text: "new" }]);
  });

  test("cuts long output to head and tail, and names a file with all of it", async () => {
    const long = `${"a".repeat(60_000)}${"z".repeat(60_000)}`;
    const tool = simpleTool("Big", false, async () => succeeded(long));
    const kit = createKit([calls(["Big", {}]), says("ok")], { tools: [tool] });
    const session = await kit.open();
    await ask(session, "go");
    const [block] = results(session) ?? [];
    if (block?.type !== "tool_result") throw new Error("no result");
    expect(Buffer.byteLength(JSON.stringify(block.text))).toBeLessThanOrEqual(40_002);
    expect(block.text.startsWith("aaa")).toBe(true);
    expect(block.text.endsWith("zzz")).toBe(true);
    expect(block.text).toContain(`characters skipped ...] The whole output is in ${block.fullTextPath}`);
    expect(kit.host.text(block.fullTextPath ?? "")).toBe(long);
  });

  test("keeps a result's texts for clients and for the model, and limits both", async () => {
    const short: ToolOutput = { status: "ok", text: "for clients", forModel: "for the model" };
    const long: ToolOutput = { status: "ok", text: "for clients", forModel: "m".repeat(70_000) };
    const tools = [simpleTool("Short", false, async () => short), simpleTool("Long", false, async () => long)];
    const kit = createKit([calls(["Short", {}], ["Long", {}]), says("ok")], { tools });
    const session = await kit.open();
    await ask(session, "go");
    const block = { type: "tool_result", status: "ok", text: "for clients" };
    expect(results(session)).toEqual([
      { ...block, callId: "call_1", name: "Short", forModel: "for the model" },
      {
        ...block,
        callId: "call_2",
        name: "Long",
        forModel: expect.stringMatching(/^m+\n\[\.\.\. \d+ characters skipped \.\.\.\] The whole output is in .*\nm+$/),
        fullTextPath: expect.any(String),
      },
    ]);
    const [, cut] = results(session) ?? [];
    if (cut?.type !== "tool_result") throw new Error("no result");
    expect(kit.host.text(cut.fullTextPath ?? "")).toBe("m".repeat(70_000));
  });

  test("a tool that throws has failed, and the turn continues", async () => {
    const tool = simpleTool("Bad", false, () => Promise.reject(new Error("boom")));
    const session = await createKit([calls(["Bad", {}]), says("ok")], { tools: [tool] }).open();
    const outcome = await ask(session, "go");
    expect(outcome).toMatchObject({ reason: "completed", failedTool: { status: "failed", text: "Error: boom" } });
  });

  test("sends heartbeats for a silent tool", async () => {
    const gates = new Map<string, () => void>();
    const kit = createKit([calls(["A", {}]), says("done")], { tools: [gated("A", gates, [])] });
    const session = await kit.open();
    const heard = listen(session);
    const outcome = ask(session, "go");
    await until(() => gates.size === 1);
    kit.clock.advance(25_000);
    gates.get("A")?.();
    await outcome;
    kit.clock.advance(60_000);
    await heard.stop();
    expect(heard.events.flatMap((event) => (event.type === "tool.heartbeat" ? [event.elapsedMs] : []))).toEqual([
      10_000, 20_000,
    ]);
  });
});

describe("permission", () => {
  const change = ["Create", { file_path: "new.txt", content: "x" }] as const;
  const look = ["LS", {}] as const;

  test("decides all calls of one reply together, and asks once", async () => {
    const kit = createKit([calls(look, change, ["Execute", { command: "rm x", riskLevel: "low" }]), says("done")]);
    const session = await kit.open({ autonomy: "off" });
    const { asked } = attachApprover(session, { kind: "allow" });
    await ask(session, "go");
    expect(asked).toMatchObject([
      {
        kind: "permission",
        calls: [
          {
            call: { name: "Create" },
            decision: { verdict: "ask", impact: "low" },
            preview: { type: "create", content: "x" },
          },
          {
            call: { name: "Execute" },
            decision: { verdict: "ask", impact: "high" },
            preview: { type: "command", command: "rm x" },
          },
        ],
      },
    ]);
    expect(kit.host.text("/ws/new.txt")).toBe("x");
  });

  test('"always" raises the level to the call\'s class, and no further', async () => {
    const kit = createKit([calls(change), calls(change), calls(["Execute", { command: "rm x" }]), says("done")]);
    const session = await kit.open({ autonomy: "off" });
    const { asked } = attachApprover(session, { kind: "allow", always: true });
    await ask(session, "go");
    expect(asked).toHaveLength(2);
    expect(session.settings.autonomy).toBe("high");
  });

  test.each([
    ["raises to Tinman's own class, whatever risk the model estimates", "off", "touch a", "low"],
    ["raises nothing if only the model's estimate caused the question", "low", "touch a", "low"],
    ["raises nothing for a protected place", "medium", "cat /home/u/.ssh/id_rsa", "medium"],
  ] as const)('"always" %s', async (_, autonomy, command, after) => {
    const risky = calls(["Execute", { command, riskLevel: "high" }]);
    const session = await createKit([risky, says("done")]).open({ autonomy });
    const { asked } = attachApprover(session, { kind: "allow", always: true });
    await ask(session, "go");
    expect(asked).toHaveLength(1);
    expect(session.settings.autonomy).toBe(after);
  });

  test('a single call that "always" would not help keeps the level', async () => {
    const both = calls(["Execute", { command: "touch a", riskLevel: "high" }], ["Execute", { command: "git push" }]);
    const session = await createKit([both, says("done")]).open({ autonomy: "low" });
    const { asked } = attachApprover(session, { kind: "allow", always: true });
    await ask(session, "go");
    expect(asked).toMatchObject([{ calls: [{ decision: { impact: "high" } }, { decision: { always: "high" } }] }]);
    expect(session.settings.autonomy).toBe("low");
  });

  test("for a tool without a preview, approvers see its resolved paths", async () => {
    const host = createMemoryHost({ "/etc/hostname": "box", "/ws/a.txt": "a" });
    host.link("/ws/notes.txt", "/etc/hostname");
    const wanted = calls(["Read", { file_path: "notes.txt" }], ["Read", { file_path: "a.txt" }], ["Many", {}]);
    const body = defineTool({
      input: z.object({}),
      access: async () => [
        { type: "write", path: "/ws/b" },
        { type: "read", path: "/ws/b" },
        { type: "fetch", url: "https://a.example/" },
        { type: "read", path: "/etc" },
      ],
      run: async () => succeeded("ok"),
    });
    const tool: Tool = { ...simpleTool("Many", false, async () => succeeded("ok")), load: async () => body };
    const tools = [...builtinTools, tool];
    const session = await createKit([wanted, says("done")], { host, tools }).open({ autonomy: "off" });
    const { asked } = attachApprover(session, { kind: "allow" });
    await ask(session, "go");
    expect(asked).toMatchObject([
      {
        calls: [
          { call: { name: "Read" }, preview: { type: "paths", paths: ["/etc/hostname"] } },
          { call: { name: "Many" }, preview: { type: "paths", paths: ["/ws/b", "/etc"] } },
        ],
      },
    ]);
  });

  test("a no ends the turn without another model call; calls that needed no approval still ran", async () => {
    const kit = createKit([calls(look, change), says("never")]);
    const session = await kit.open({ autonomy: "off" });
    attachApprover(session, { kind: "cancel" });
    const outcome = await ask(session, "go");
    expect(outcome.reason).toBe("cancelled");
    expect(results(session)).toMatchObject([
      { status: "ok" },
      { status: "refused", text: "Error: Tool execution cancelled by user" },
    ]);
    expect(kit.requests).toHaveLength(1);
    expect(kit.host.text("/ws/new.txt")).toBeUndefined();
  });

  test("without a client the answer is no, at once, and nothing of that reply runs", async () => {
    const kit = createKit([calls(look, change), says("never")]);
    const session = await kit.open({ autonomy: "off" });
    const outcome = await ask(session, "go");
    expect(outcome).toMatchObject({
      reason: "denied",
      failure: { code: "denied" },
      denials: [{ callId: "call_2", tool: "Create", class: "low", rule: "write-workspace" }],
    });
    expect(results(session)).toMatchObject([
      { status: "refused", text: "Error: Not run, because another call of the same reply was not allowed." },
      { status: "refused" },
    ]);
    expect(kit.host.text("/ws/new.txt")).toBeUndefined();
    expect(kit.requests).toHaveLength(1);
  });

  test("with onDenied continue, the rest runs and the model can continue", async () => {
    const kit = createKit([calls(look, change), says("I could not write")]);
    const session = await kit.engine.create({
      cwd: "/ws",
      settings: { ...settings, autonomy: "off" },
      run: { onDenied: "continue" },
    });
    const outcome = await ask(session, "go");
    expect(outcome).toMatchObject({
      reason: "completed",
      finalText: "I could not write",
      denials: [{ tool: "Create" }],
    });
    expect(results(session)).toMatchObject([{ status: "ok" }, { status: "refused" }]);
  });

  test("the last approver leaving means no", async () => {
    const kit = createKit([calls(change), says("never")]);
    const session = await kit.open({ autonomy: "off" });
    const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
    const heard = listen(session);
    const outcome = ask(session, "go");
    await until(() => heard.types().includes("request.opened"));
    attachment.detach();
    expect((await outcome).reason).toBe("denied");
    await heard.stop();
    expect(heard.types().filter((type) => type === "request.closed")).toHaveLength(1);
  });

  test("the first answer wins, and an interrupt closes the request once", async () => {
    const kit = createKit([calls(change), says("ok"), calls(change)]);
    const session = await kit.open({ autonomy: "off" });
    const one = session.attach({ approve: true, answer: true, onDetach: "cancel" });
    const two = session.attach({ approve: true, answer: true, onDetach: "cancel" });
    const heard = listen(session);
    const opened = () => heard.events.flatMap((event) => (event.type === "request.opened" ? [event.requestId] : []));
    const first = ask(session, "go");
    await until(() => opened().length === 1);
    const [id = ""] = opened();
    expect([one.answer(id, { kind: "allow" }), two.answer(id, { kind: "cancel" })]).toEqual([true, false]);
    expect((await first).reason).toBe("completed");

    const second = ask(session, "again");
    await until(() => opened().length === 2);
    await session.interrupt();
    expect((await second).reason).toBe("interrupted");
    expect(two.answer(opened()[1] ?? "", { kind: "allow" })).toBe(false);
    await heard.stop();
    expect(heard.types().filter((type) => type === "request.closed")).toHaveLength(2);
  });

  test("a disabled tool is unknown, an enabled one runs at any level", async () => {
    const kit = createKit([calls(look, change), says("ok")]);
    const run = { disabledTools: ["LS"], enabledTools: ["Create"] };
    const session = await kit.engine.create({ cwd: "/ws", settings: { ...settings, autonomy: "off" }, run });
    await ask(session, "go");
    expect(results(session)).toMatchObject([
      { status: "failed", text: expect.stringContaining("Unknown tool: LS") },
      { status: "ok" },
    ]);
    expect(session.toolSpecs(info).map(({ name }) => name)).not.toContain("LS");
  });
});

describe("spec mode", () => {
  test("refuses changes with a message and continues", async () => {
    const kit = createKit([calls(["Create", { file_path: "x", content: "" }]), says("A plan then")]);
    const session = await kit.open({ mode: "spec", autonomy: "high" });
    const outcome = await ask(session, "go");
    expect(outcome).toMatchObject({ reason: "completed", denials: [], finalText: "A plan then" });
    expect(results(session)).toMatchObject([
      { status: "refused", text: expect.stringContaining("Spec mode is active") },
    ]);
  });

  test("without an approver, the plan is the answer", async () => {
    const kit = createKit([calls(["ExitSpecMode", { plan: "1. Do it" }]), says("never")]);
    const outcome = await ask(await kit.open({ mode: "spec" }), "plan");
    expect(outcome).toMatchObject({ reason: "planned", finalText: "1. Do it" });
    expect(kit.requests).toHaveLength(1);
  });

  test("approval switches the mode and the level, in one event", async () => {
    const kit = createKit([
      calls(["ExitSpecMode", { plan: "p" }]),
      calls(["Create", { file_path: "x", content: "y" }]),
      says("done"),
    ]);
    const session = await kit.open({ mode: "spec", autonomy: "off" });
    attachApprover(session, { kind: "approve", autonomy: "low" });
    const outcome = await ask(session, "plan");
    expect(outcome.reason).toBe("completed");
    expect(session.settings).toMatchObject({ mode: "auto", autonomy: "low" });
    expect(kit.host.text("/ws/x")).toBe("y");
  });
});

describe("a tool of one mode", () => {
  const plan = ["ExitSpecMode", { plan: "1. Do it" }] as const;
  const refusal = "Error: ExitSpecMode works only in spec mode, but this session is in auto mode. Nothing was done.";

  test("is offered only in this mode", async () => {
    const kit = createKit([says("ok"), says("ok")]);
    for (const mode of ["auto", "spec"] as const) await ask(await kit.open({ mode }), "go");
    const offered = kit.requests.map(({ tools }) => tools.some(({ name }) => name === "ExitSpecMode"));
    expect(offered).toEqual([false, true]);
  });

  test("fails with a message in another mode, and the turn continues", async () => {
    const kit = createKit([calls(plan), says("I will do it now."), calls(["Fly", {}]), says("ok")]);
    const session = await kit.open();
    expect(await ask(session, "go")).toMatchObject({
      reason: "completed",
      finalText: "I will do it now.",
      failedTool: { name: "ExitSpecMode" },
    });
    expect(results(session)).toMatchObject([{ status: "failed", text: refusal }]);
    await ask(session, "go");
    expect(results(session)).toMatchObject([{ text: expect.not.stringContaining("ExitSpecMode") }]);
  });

  test("fails if an earlier approval in the same reply has ended the mode", async () => {
    const kit = createKit([calls(plan, plan), says("Done.")]);
    const session = await kit.open({ mode: "spec" });
    const { asked } = attachApprover(session, { kind: "approve", autonomy: "low" });
    expect(await ask(session, "go")).toMatchObject({ reason: "completed", finalText: "Done." });
    expect(asked).toHaveLength(1);
    expect(results(session)).toMatchObject([{ status: "ok" }, { status: "failed", text: refusal }]);
  });
});
