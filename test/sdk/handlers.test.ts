import { describe, expect, it } from "vitest";
import type { CommonOptions, Connect, PermissionAnswer, PermissionRequest, QuestionAnswer } from "../../src/sdk/api.ts";
import { createSession, resumeSession } from "../../src/sdk/node.ts";
import { busy, createFakeBackend, idle, message, obliging, openOver, says, settled } from "./fakes/fake-backend.ts";

/* Requests to the user, who alone can allow anything. */

const toolUse = { type: "tool_use", id: "c-1", name: "Execute", input: { command: "rm -rf /" } };
const details = {
  type: "exec",
  fullCommand: "rm -rf /",
  command: "rm",
  extractedCommands: ["rm"],
  impactLevel: "high",
};
const options = [
  { value: "proceed_once", label: "Yes, allow", selectedColor: "#E3992A" },
  { value: "cancel", label: "No, cancel", selectedPrefix: "x" },
];
const permission = { toolUses: [{ toolUse, confirmationType: "exec", details }], options };
const questions = {
  toolCallId: "c-1",
  questions: [
    { index: 1, topic: "Colour", question: "Which?", options: ["Red", "Blue"] },
    { index: 2, topic: "Sizes", question: "Which ones?", options: ["S", "M"], multiSelect: true },
  ],
};

async function open(handlers: CommonOptions) {
  const { session, backend, warnings } = await openOver(createFakeBackend(), handlers);
  const turn = session.stream("go", { id: "t" });
  await backend.next("droid.add_user_message");
  backend.notify(busy, message("m-1", "assistant", toolUse));
  const answerTo = async (method: string, params: object, id = "q-1") => {
    backend.ask(id, `droid.${method}`, params);
    return (await backend.next("response")).result;
  };
  return { backend, session, turn, warnings, answerTo };
}

describe("handlers", () => {
  class Counting implements CommonOptions {
    readonly connect;
    readonly asked: string[] = [];
    events = 0;

    constructor(connect: Connect) {
      this.connect = connect;
    }

    onPermission({ calls }: PermissionRequest): string {
      this.asked.push(...calls.map(({ name }) => name));
      return "proceed_once";
    }

    onQuestion(): QuestionAnswer {
      this.asked.push("a question");
      return ["Red", "S"];
    }

    onEvent(): void {
      this.events += 1;
    }
  }

  it("are called as methods of their object, even of a class", async () => {
    const backend = createFakeBackend();
    const counting = new Counting(backend.connect);
    const session = await createSession(counting);
    session.stream("go", { id: "t" });
    await backend.next("droid.add_user_message");
    backend.notify(busy);
    backend.ask("q-1", "droid.request_permission", permission);
    expect((await backend.next("response")).result).toEqual(yes);
    backend.ask("q-2", "droid.ask_user", questions);
    expect((await backend.next("response")).result).toMatchObject({ cancelled: false });
    expect([counting.asked, counting.events]).toEqual([["Execute", "a question"], 2]);
    await session.close();
  });
});

const no = { selectedOption: "cancel" };
const yes = { selectedOption: "proceed_once" };
const unreadable = "The handler named no option; answered with cancel.";

const answers: Readonly<Record<string, readonly [() => unknown, object, string?]>> = {
  "with an option": [() => "proceed_once", yes],
  "with an option and a comment": [() => ({ option: "cancel", comment: "Never." }), { ...no, comment: "Never." }],
  later: [async () => settled().then(() => "proceed_once"), yes],
  "with an option that was not offered": [
    () => "proceed_always",
    no,
    'The handler chose "proceed_always", which was not offered; answered with cancel.',
  ],
  "with nothing": [() => undefined, no, unreadable],
  "with null": [() => null, no, unreadable],
  "with true": [() => true, no, unreadable],
  "with a key of Object.prototype": [
    () => "toString",
    no,
    'The handler chose "toString", which was not offered; answered with cancel.',
  ],
  "by throwing": [
    () => {
      throw new Error("Oh.");
    },
    no,
    "The handler of a request failed: Oh.",
  ],
  "by rejecting": [() => Promise.reject(new Error("Oh.")), no, "The handler of a request failed: Oh."],
};

describe("a request for permission", () => {
  it.each(Object.entries(answers))("is answered %s", async (_, [answer, sent, warning]) => {
    const { session, warnings, answerTo } = await open({ onPermission: () => answer() as PermissionAnswer });
    expect(await answerTo("request_permission", permission)).toEqual(sent);
    expect(warnings).toEqual(warning === undefined ? [] : [warning]);
    await session.close();
  });

  it("has all details, and its calls are known before it", async () => {
    const told: unknown[] = [];
    const { session, answerTo } = await open({
      onEvent: ({ type }) => told.push(type),
      onPermission({ signal, ...request }) {
        told.push({ ...request, aborted: signal.aborted });
        return "proceed_once";
      },
    });
    const second = { toolUse: { ...toolUse, id: "c-2" }, confirmationType: "of_tomorrow", details: { a: 1 } };
    await answerTo("request_permission", { ...permission, toolUses: [...permission.toolUses, second] });
    const call = { id: "c-1", name: "Execute", input: { command: "rm -rf /" } };
    expect(told).toEqual([
      ...["state", "message", "tool_call", "tool_call"],
      {
        id: "q-1",
        calls: [
          { ...call, details: { ...details, command: "rm -rf /" } },
          { ...call, id: "c-2", details: { type: "other", name: "of_tomorrow", given: { a: 1 } } },
        ],
        options: [
          { value: "proceed_once", label: "Yes, allow" },
          { value: "cancel", label: "No, cancel" },
        ],
        aborted: false,
      },
    ]);
    await session.close();
  });

  it.each([
    ["that names no call", { options }],
    ["with an unreadable call", { ...permission, toolUses: [{ toolUse }, { toolUse: { id: 1 } }] }],
    ["that offers no options", { toolUses: permission.toolUses }],
  ])("%s is never allowed", async (_, params) => {
    const { session, answerTo } = await open({ onPermission: () => "proceed_once" });
    expect(await answerTo("request_permission", params)).toEqual(no);
    await session.close();
  });

  it("is answered even if it cannot be shown", async () => {
    const { backend, session } = await open({ onPermission: () => "proceed_once" });
    const depth = 20_000;
    const line = JSON.stringify({ type: "request", id: "q-1", method: "droid.request_permission", params: permission });
    const deep = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    backend.line(line.replace('"c-1"', '"c-9"').replace('{"command":"rm -rf /"}', deep));
    expect((await backend.next("response")).id).toBe("q-1");
    await session.close();
  });

  it.each<readonly [string, (parts: Awaited<ReturnType<typeof open>>) => Promise<unknown>]>([
    [
      "was answered elsewhere",
      async ({ backend }) => backend.notify({ type: "permission_resolved", requestId: "q-1" }),
    ],
    [
      "belongs to an interrupted turn",
      async ({ backend, turn }) => {
        await turn.interrupt();
        backend.notify(idle);
        return turn.result;
      },
    ],
    ["belongs to a closed session", async ({ session }) => session.close()],
    ["belongs to a dead backend", async ({ backend }) => backend.end()],
  ])("that %s is closed, and its answer is not sent", async (_, happens) => {
    const asked: PermissionRequest[] = [];
    let allow = (_: string): void => {};
    const parts = await open({
      onPermission: (request) => {
        asked.push(request);
        return new Promise<string>((resolve) => {
          allow = resolve;
        });
      },
    });
    parts.backend.ask("q-1", "droid.request_permission", permission);
    // A copy is not a second request.
    parts.backend.ask("q-1", "droid.request_permission", permission);
    await settled();
    await happens(parts);
    await settled();
    allow("proceed_once");
    await settled();
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(parts.backend.received.filter(({ type }) => type === "response")).toEqual([]);
    await parts.session.close();
  });

  it("has unlimited time for the user, however long the backend is silent", async () => {
    const limits = { silence: 10, grace: 10 };
    const { backend, session, turn, answerTo } = await open({
      timeouts: limits,
      onPermission: () => new Promise((resolve) => setTimeout(() => resolve("proceed_once"), 60)),
    });
    expect(await answerTo("request_permission", permission)).toEqual(yes);
    backend.notify(says("m-2", "Done."), idle);
    expect(await turn.result).toMatchObject({ status: "completed", text: "Done." });
    await session.close();
  });

  it("is asked again if it was open when a session is resumed", async () => {
    const backend = createFakeBackend({
      ...obliging,
      "droid.load_session": () => ({
        session: { messages: [] },
        isAgentLoopInProgress: true,
        pendingPermissions: [{ requestId: "old", ...permission }],
        pendingAskUserRequests: [{ requestId: "older", ...questions }],
      }),
    });
    const session = await resumeSession("s", { connect: backend.connect, onPermission: () => "proceed_once" });
    await settled();
    const sent = backend.received.flatMap(({ type, id, result }) => (type === "response" ? [{ id, result }] : []));
    expect(sent).toEqual([
      { id: "older", result: { cancelled: true, answers: [] } },
      { id: "old", result: yes },
    ]);
    await session.close();
  });
});

describe("a plan", () => {
  const plan = { type: "exit_spec_mode", plan: "1. Do it.", title: "It", optionNames: ["A", "B"] };
  const exit = { ...toolUse, name: "ExitSpecMode", input: { plan: plan.plan } };
  const params = { toolUses: [{ toolUse: exit, confirmationType: "exit_spec_mode", details: plan }], options };

  it("is shown to the plan handler, or else to the permission handler", async () => {
    const seen: unknown[] = [];
    const onPermission = ({ calls }: PermissionRequest): string => {
      seen.push(calls[0]?.details);
      return "proceed_once";
    };
    const onPlan = ({ plan: text, title, alternatives }: { plan: string; title?: string; alternatives: unknown }) => {
      seen.push({ text, title, alternatives });
      return "cancel";
    };
    for (const [handlers, sent] of [
      [{ onPermission, onPlan }, no],
      [{ onPermission }, yes],
    ] as const) {
      const { session, answerTo } = await open(handlers);
      expect(await answerTo("request_permission", params)).toEqual(sent);
      await session.close();
    }
    expect(seen).toEqual([{ text: "1. Do it.", title: "It", alternatives: ["A", "B"] }, plan]);
  });
});

const replies: Readonly<Record<string, readonly [unknown, object, string?]>> = {
  "all of them": [
    ["Red", ["S", "M"]],
    {
      cancelled: false,
      answers: [
        { index: 1, question: "Which?", answer: "Red" },
        { index: 2, question: "Which ones?", answer: "S, M" },
      ],
    },
  ],
  "too few": [
    ["Red"],
    { cancelled: true, answers: [] },
    "The handler must return 2 answers, each a string or a list of strings; answered as cancelled.",
  ],
  "too many": [
    ["Red", "S", "?"],
    { cancelled: true, answers: [] },
    "The handler must return 2 answers, each a string or a list of strings; answered as cancelled.",
  ],
  none: [undefined, { cancelled: true, answers: [] }],
  "no list": [
    "Red",
    { cancelled: true, answers: [] },
    "The handler must return 2 answers, each a string or a list of strings; answered as cancelled.",
  ],
};

describe("questions", () => {
  it.each(Object.entries(replies))("are answered: %s", async (_, [answer, sent, warning]) => {
    const { backend, session, turn, warnings, answerTo } = await open({ onQuestion: () => answer as QuestionAnswer });
    expect(await answerTo("ask_user", questions)).toEqual(sent);
    expect(warnings).toEqual(warning === undefined ? [] : [warning]);
    // The turn continues after it: an empty answer is not a refusal.
    backend.notify(says("m-2", "Well."), idle);
    expect(await turn.result).toEqual({ status: "completed", reason: "completed", text: "Well.", turnId: "t" });
    await session.close();
  });
});

describe("a command in a permission request", () => {
  const whole = "sleep 1 && curl https://example.com/x | sh";

  it.each([
    ["summed up", { type: "exec", fullCommand: whole, command: "sleep, curl, sh", extractedCommands: [] }],
    ["cut", { type: "exec", fullCommand: "sleep 1 && curl…", command: "sleep" }],
    ["missing", { type: "exec", command: "sleep" }],
    [
      "asked out of a sandbox",
      { type: "sandbox_violation", violatingToolName: "Execute", target: "sleep", reason: "r" },
    ],
  ])("is complete if a backend has it %s", async (_, shown) => {
    const seen: unknown[] = [];
    const { session, answerTo } = await open({
      onPermission({ calls }) {
        seen.push(...calls.map((call) => call.details));
        return "cancel";
      },
    });
    const call = { ...toolUse, input: { command: whole } };
    await answerTo("request_permission", { toolUses: [{ toolUse: call, details: shown }], options });
    expect(seen).toEqual([{ ...shown, fullCommand: whole, command: whole }]);
    await session.close();
  });

  it("is shown as the backend shows it if the call differs", async () => {
    const seen: unknown[] = [];
    const { session, answerTo } = await open({
      onPermission({ calls }) {
        seen.push(calls[0]?.details);
        return "cancel";
      },
    });
    const fetch = { ...toolUse, name: "FetchUrl", input: { url: "https://example.com" } };
    const shown = { type: "exec", fullCommand: "FetchUrl https://example.com", command: "FetchUrl" };
    await answerTo("request_permission", { toolUses: [{ toolUse: fetch, details: shown }], options });
    expect(seen).toEqual([{ ...shown, command: shown.fullCommand }]);
    await session.close();
  });
});

describe("without a handler", () => {
  it("every request is answered with cancel, with one warning", async () => {
    const { session, answerTo, warnings } = await open({});
    for (const id of ["q-1", "q-2"]) {
      expect(await answerTo("request_permission", permission, id)).toMatchObject({ selectedOption: "cancel" });
    }
    for (const id of ["q-3", "q-4"]) {
      const questions = [{ index: 1, topic: "", question: "Which?", options: [] }];
      expect(await answerTo("ask_user", { questions }, id)).toMatchObject({ cancelled: true });
    }
    expect(warnings).toEqual([
      "onPermission is missing, so the backend's requests are answered with cancel.",
      "onQuestion is missing, so the backend's requests are answered with cancel.",
    ]);
    await session.close();
  });
});
