import { describe, expect, test } from "vitest";
import type { SessionSettings } from "../../../src/engine/settings.ts";
import type { Dialect } from "../../../src/frontends/stream-jsonrpc/dialect.ts";
import { calls, createKit, says, until } from "../../fakes/kit.ts";
import { checked, entered, fresh, listenTranslated, type Response, turnCompleted, usageTold } from "./translated.ts";

interface Asked {
  readonly settings: Partial<SessionSettings>;
  readonly dialect?: Dialect;
  readonly wanted: readonly (readonly [string, unknown])[];
  readonly response: Response;
  /** The content of the file that a call would replace. */
  readonly old?: string;
}

/** Runs a turn whose first reply makes calls; returns what was sent after that reply's message. */
async function asked({ settings, dialect = "later", wanted, response, old = "old\n" }: Asked): Promise<object[]> {
  const kit = createKit([calls(...wanted), says("done")], { files: { "/ws/a.txt": old } });
  const client = listenTranslated(await kit.open(settings), { dialect, respond: () => response });
  await client.prompt("go", { requestId: "r1" }).outcome;
  await client.stop();
  return client.sent.slice(client.types().indexOf("create_message", 2) + 1);
}

const chose = (selectedOption: string): Response => ({ result: { selectedOption } });

const once = { label: "Yes, allow", value: "proceed_once", selectedColor: "#E3992A" };
const always = (what: string): object => ({
  label: `Yes, and always allow ${what}`,
  value: "proceed_always",
  selectedColor: "#E3992A",
});
const cancel = { label: "No, cancel", value: "cancel", selectedColor: "#E54048", selectedPrefix: "✕ " };
const low = "low impact commands (file edits and read-only commands)";
const medium = "medium impact commands (all commands that are reversible)";

const createInput = { file_path: "/ws/a.txt", content: "new\n" };
const createAsked = {
  toolUse: { type: "tool_use", id: "call_1", name: "Create", input: createInput },
  confirmationType: "create",
  details: { type: "create", filePath: "/ws/a.txt", fileName: "a.txt", content: "new\n", oldContent: "old\n" },
};
const done = (parentId: string, messageId: string): object[] => [
  entered("streaming_assistant_message"),
  { type: "assistant_text_delta", messageId, blockIndex: 0, textDelta: "done" },
  { type: "assistant_text_complete", messageId, blockIndex: 0 },
  {
    type: "create_message",
    message: {
      id: messageId,
      role: "assistant",
      content: [{ type: "text", text: "done" }],
      createdAt: 1_000_000,
      updatedAt: 1_000_000,
      parentId,
    },
  },
  usageTold("id-1", 2),
  turnCompleted("completed", "id-2", { calls: 2 }),
  entered("idle"),
];

const later = (interactionMode: string, autonomyLevel: string, autonomyMode: string): object => ({
  type: "settings_updated",
  settings: { modelId: "fake", reasoningEffort: "none", interactionMode, autonomyLevel, autonomyMode },
});

describe("permissions", () => {
  test("one call, allowed once", async () => {
    const wanted = [["Create", createInput]] as const;
    const sent = await asked({ settings: { autonomy: "off" }, wanted, response: chose("proceed_once"), old: "" });
    const overEmptyFile = { ...createAsked, details: { ...createAsked.details, oldContent: "" } };
    expect(sent).toEqual([
      entered("executing_tool"),
      usageTold("id-1", 1),
      entered("waiting_for_tool_confirmation"),
      {
        method: "droid.request_permission",
        id: "id-6",
        params: { toolUses: [overEmptyFile], options: [once, always(low), cancel] },
      },
      { type: "permission_resolved", requestId: "id-6", toolUseIds: ["call_1"], selectedOption: "proceed_once" },
      entered("executing_tool"),
      {
        type: "tool_result",
        toolUseId: "call_1",
        messageId: "id-5",
        content: "File created successfully",
        isError: false,
      },
      ...done("id-5", "id-7"),
    ]);
  });

  test("shows a call in another agent's spelling as what it means", async () => {
    const wanted = [["Write", { path: "/ws/a.txt", file_text: "new\n", overwrite: true }]] as const;
    const kit = createKit([calls(...wanted), says("done")], { files: { "/ws/a.txt": "old\n" } });
    const respond = () => chose("cancel");
    const client = listenTranslated(await kit.open({ autonomy: "off" }), { dialect: "later", respond });
    await client.prompt("go", { requestId: "r1" }).outcome;
    await client.stop();
    const seen = client.sent.flatMap((line) => {
      const { type, toolUse, params } = line as { type?: string; toolUse?: unknown; params?: { toolUses: unknown } };
      return type === "tool_call" ? [toolUse] : params === undefined ? [] : [params.toolUses];
    });
    expect(seen).toEqual([createAsked.toolUse, [createAsked]]);
  });

  test("asks about several calls together, without those that need no permission", async () => {
    const wanted = [
      ["Create", createInput],
      ["Read", { file_path: "/ws/a.txt" }],
      ["Execute", { command: "npm install && mkdir x" }],
    ] as const;
    const sent = await asked({ settings: { autonomy: "off" }, wanted, response: chose("cancel") });
    const request = sent[3] as { id: string; params: object };
    expect(request.params).toEqual({
      toolUses: [
        createAsked,
        {
          toolUse: { type: "tool_use", id: "call_3", name: "Execute", input: { command: "npm install && mkdir x" } },
          confirmationType: "exec",
          details: {
            type: "exec",
            fullCommand: "npm install && mkdir x",
            command: "npm install, mkdir",
            extractedCommands: ["npm install", "mkdir"],
            impactLevel: "medium",
            riskLevelReason:
              'Execute runs "npm install && mkdir x": it changes the project\'s dependencies, with packages from the network.',
          },
        },
      ],
      options: [{ ...once, label: "Yes, allow all" }, always(medium), { ...cancel, label: "No, cancel all" }],
    });
    const result = { type: "tool_result", messageId: "id-5" };
    const no = { content: "Error: Tool execution cancelled by user", isError: true };
    expect(sent.slice(4)).toEqual([
      { type: "permission_resolved", requestId: request.id, toolUseIds: [], selectedOption: "cancel" },
      { ...result, toolUseId: "call_1", ...no },
      entered("executing_tool"),
      { ...result, toolUseId: "call_2", content: "old\n", isError: false },
      { ...result, toolUseId: "call_3", ...no },
      turnCompleted("permission_rejected", "id-2"),
      entered("idle"),
    ]);
  });

  test('"always" raises the level, which is sent after the answer', async () => {
    const wanted = [["Create", createInput]] as const;
    const settings = { autonomy: "off" } as const;
    const resolved = { type: "permission_resolved", requestId: "id-6", toolUseIds: ["call_1"] };
    const sent = await asked({ settings, wanted, response: chose("proceed_always") });
    expect(sent.slice(4, 7)).toEqual([
      { ...resolved, selectedOption: "proceed_always" },
      later("auto", "low", "auto-low"),
      entered("executing_tool"),
    ]);
    const early = await asked({ settings, wanted, response: chose("proceed_always"), dialect: "early" });
    expect(early.slice(4, 7)).toEqual([
      { ...resolved, selectedOption: "proceed_always" },
      {
        type: "settings_updated",
        settings: {
          modelId: "fake",
          reasoningEffort: "none",
          autonomyLevel: "auto-low",
          specModeReasoningEffort: "none",
        },
      },
      entered("executing_tool"),
    ]);
  });

  test("a protected place cannot be always allowed, and trying raises nothing", async () => {
    const input = { file_path: "/home/u/.ssh/config" };
    const wanted = [["Read", input]] as const;
    const sent = await asked({ settings: { autonomy: "high" }, wanted, response: chose("proceed_always") });
    expect(sent.slice(3, 6)).toEqual([
      {
        method: "droid.request_permission",
        id: "id-6",
        params: {
          toolUses: [
            {
              toolUse: { type: "tool_use", id: "call_1", name: "Read", input },
              confirmationType: "exec",
              details: {
                type: "exec",
                fullCommand: "Read /home/u/.ssh/config",
                command: "Read",
                extractedCommands: ["Read"],
                impactLevel: "high",
                riskLevelReason: "Read reads /home/u/.ssh/config, a protected place.",
              },
            },
          ],
          options: [once, cancel],
        },
      },
      { type: "permission_resolved", requestId: "id-6", toolUseIds: ["call_1"], selectedOption: "proceed_once" },
      entered("executing_tool"),
    ]);
  });

  test("an error from the client cancels, with its message for the model", async () => {
    const response = { error: { code: -32603, message: "client failed" } };
    const sent = await asked({ settings: { autonomy: "off" }, wanted: [["Create", createInput]], response });
    expect(sent.slice(5)).toEqual([
      {
        type: "tool_result",
        toolUseId: "call_1",
        messageId: "id-5",
        content: "Error: Tool execution cancelled: the client answered with an error: client failed",
        isError: true,
      },
      turnCompleted("permission_rejected", "id-2"),
      entered("idle"),
    ]);
  });
});

describe("plans", () => {
  const input = { plan: "# Do it\n\nfirst this", title: "Do it", optionNames: ["A", "B"] };
  const wanted = [["ExitSpecMode", input]] as const;
  const settings = { autonomy: "high", mode: "spec" } as const;
  const resolved = { type: "permission_resolved", requestId: "id-6", toolUseIds: ["call_1"] };

  test("are shown with five choices", async () => {
    const sent = await asked({ settings, wanted, response: chose("proceed_once") });
    const amber = { selectedColor: "#E3992A" };
    expect(sent.slice(2, 4)).toEqual([
      entered("waiting_for_tool_confirmation"),
      {
        method: "droid.request_permission",
        id: "id-6",
        params: {
          toolUses: [
            {
              toolUse: { type: "tool_use", id: "call_1", name: "ExitSpecMode", input },
              confirmationType: "exit_spec_mode",
              details: { type: "exit_spec_mode", ...input },
            },
          ],
          options: [
            { label: "Proceed with implementation", value: "proceed_once", ...amber },
            {
              label: "Proceed, and allow file edits and read-only commands (Low)",
              value: "proceed_auto_run_low",
              ...amber,
            },
            { label: "Proceed, and allow reversible commands (Medium)", value: "proceed_auto_run_medium", ...amber },
            {
              label: "Proceed, and allow all commands (High)",
              value: "proceed_auto_run_high",
              selectedColor: "#E54048",
            },
            { ...cancel, label: "No, keep iterating on spec" },
          ],
        },
      },
    ]);
  });

  test("approved: the answer, then the settings", async () => {
    const sent = await asked({ settings, wanted, response: chose("proceed_once") });
    expect(sent.slice(4, 7)).toEqual([
      { ...resolved, selectedOption: "proceed_once" },
      later("auto", "off", "normal"),
      entered("executing_tool"),
    ]);
    expect(sent[7]).toMatchObject({ type: "tool_result", toolUseId: "call_1", isError: false });
    expect(sent.slice(8)).toEqual(done("id-5", "id-7"));
  });

  test("approved in the other dialect: the settings, then the answer", async () => {
    const sent = await asked({ settings, wanted, dialect: "early", response: chose("proceed_auto_run_medium") });
    expect(sent.slice(4, 7)).toEqual([
      {
        type: "settings_updated",
        settings: {
          modelId: "fake",
          reasoningEffort: "none",
          autonomyLevel: "auto-medium",
          specModeReasoningEffort: "none",
        },
      },
      { ...resolved, selectedOption: "proceed_auto_run_medium" },
      entered("executing_tool"),
    ]);
  });

  test("rejected: stays in spec mode, and the turn is over", async () => {
    const response = { result: { selectedOption: "cancel", comment: "too long" } };
    const sent = await asked({ settings, wanted, response });
    const words = "Error: Plan not approved - remaining in Spec Mode. Provide feedback to refine the spec. (too long)";
    expect(sent.slice(4)).toEqual([
      { ...resolved, toolUseIds: [], selectedOption: "cancel" },
      { type: "tool_result", toolUseId: "call_1", messageId: "id-5", content: words, isError: true },
      turnCompleted("permission_rejected", "id-2"),
      entered("idle"),
    ]);
  });
});

test("a question needs no permission, and the turn continues", async () => {
  const questionnaire = "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue";
  const response = { result: { cancelled: false, answers: [{ index: 1, question: "Which color?", answer: "Red" }] } };
  const sent = await asked({ settings: {}, wanted: [["AskUser", { questionnaire }]], response });
  const questions = [{ index: 1, topic: "Color", question: "Which color?", options: ["Red", "Blue"] }];
  expect(sent).toEqual([
    entered("executing_tool"),
    usageTold("id-1", 1),
    entered("waiting_for_tool_confirmation"),
    { method: "droid.ask_user", id: "id-6", params: { toolCallId: "call_1", questions } },
    entered("executing_tool"),
    {
      type: "tool_result",
      toolUseId: "call_1",
      messageId: "id-5",
      content: "1. [question] Which color?\n[answer] Red",
      isError: false,
    },
    ...done("id-5", "id-7"),
  ]);
});

test("a client that joins during a request learns how it was answered", async () => {
  const kit = createKit([calls(["Create", createInput]), says("done")]);
  const session = await kit.open({ autonomy: "off" });
  let isHeld = true;
  const early = listenTranslated(session, { respond: () => (isHeld ? undefined : chose("proceed_once")) });
  const handle = early.prompt("go", { requestId: "r1" });
  await until(() => early.types().includes("request"));
  isHeld = false;
  const late = listenTranslated(session, { turnId: handle.messageId, openRequests: session.openRequests() });
  const [requestId = ""] = session.openRequests().keys();
  const answering = session.attach({ approve: true, answer: true, onDetach: "keep" });
  answering.answer(requestId, { kind: "allow" });
  await handle.outcome;
  await Promise.all([early.stop(), late.stop()]);
  answering.detach();
  expect(late.sent.slice(0, 2)).toEqual([
    { type: "permission_resolved", requestId, toolUseIds: ["call_1"], selectedOption: "proceed_once" },
    entered("executing_tool"),
  ]);
  expect(late.sent.at(-2)).toEqual(turnCompleted("completed", handle.messageId, { calls: 2 }));
});

test("an interrupt cancels an open request, once", async () => {
  for (const [name, input] of [
    ["Create", createInput],
    ["AskUser", { questionnaire: "1. [question] Which?" }],
    ["ExitSpecMode", { plan: "p" }],
  ] as const) {
    const kit = createKit([calls([name, input])]);
    const session = await kit.open({ autonomy: "off", mode: name === "ExitSpecMode" ? "spec" : "auto" });
    const client = listenTranslated(session);
    const handle = client.prompt("go", { requestId: "r1" });
    await until(() => client.types().includes("request"));
    const from = client.sent.length;
    await session.interrupt();
    await handle.outcome;
    await client.stop();
    const resolved = { type: "permission_resolved", requestId: "id-6", toolUseIds: [], selectedOption: "cancel" };
    const sent = client.sent.slice(from);
    expect(sent.filter((entry) => !("isError" in entry))).toEqual([
      ...(name === "AskUser" ? [] : [resolved]),
      turnCompleted("cancelled", "id-2"),
      entered("idle"),
    ]);
    expect(sent.filter((entry) => "isError" in entry)).toMatchObject([{ toolUseId: "call_1", isError: true }]);
  }
});

test("while one of two requests is open, the state stays waiting", () => {
  const translator = fresh();
  const question = { kind: "question", callId: "c", questions: [] } as const;
  const opened = { at: 1, sessionId: "s", type: "request.opened", interaction: question } as const;
  const answer = { kind: "answers", answers: [] } as const;
  const closed = { at: 1, sessionId: "s", type: "request.closed", answer } as const;
  const sent = [
    translator.translate({ ...opened, seq: 1, requestId: "q1" }),
    translator.translate({ ...opened, seq: 2, requestId: "q2" }),
    translator.translate({ ...closed, seq: 3, requestId: "q1" }),
    translator.translate({ ...closed, seq: 4, requestId: "q2" }),
  ];
  const request = { method: "droid.ask_user", params: { toolCallId: "c", questions: [] } };
  expect(sent.map((outgoing) => outgoing.map(checked))).toEqual([
    [entered("waiting_for_tool_confirmation"), { ...request, id: "q1" }],
    [{ ...request, id: "q2" }],
    [],
    [entered("executing_tool")],
  ]);
});
