import { describe, expect, it } from "vitest";
import type { CommonOptions } from "../../../src/sdk/api.ts";
import { createSession } from "../../../src/sdk/browser.ts";
import { linkedConnection } from "../../../src/sdk/connection/linked.ts";
import {
  busy,
  createFakeBackend,
  delta,
  type FakeBackend,
  idle,
  openOver,
  says,
  settled,
} from "../fakes/fake-backend.ts";

/* Backends that want more than they were allowed. */

const open = (options: CommonOptions) => openOver(createFakeBackend(), options);

const options = [
  { value: "proceed_once", label: "Yes" },
  { value: "cancel", label: "No" },
];

const asking = (name: string, input: unknown, details: object = {}, confirmationType = "exec") => ({
  toolUses: [{ toolUse: { type: "tool_use", id: "c-1", name, input }, confirmationType, details }],
  options,
});

/** The answer to a request, or that there was none. */
async function answerTo(backend: FakeBackend, id: string | number) {
  await settled();
  return backend.received.filter(({ type, id: of }) => type === "response" && of === id).map(({ result }) => result);
}

const no = { selectedOption: "cancel" };
const yes = { selectedOption: "proceed_once" };

describe("a permission", () => {
  it("for a command cannot hide behind a plan", async () => {
    const plans: string[] = [];
    const { session, backend } = await open({
      onPlan: ({ plan }) => {
        plans.push(plan);
        return "proceed_once";
      },
    });
    const details = { type: "exit_spec_mode", plan: "A nice plan" };
    backend.ask("r-1", "droid.request_permission", asking("Execute", { command: "rm -rf /" }, details));
    backend.ask("r-2", "droid.request_permission", asking("ExitSpecMode", { plan: "Another" }, details));
    expect(await answerTo(backend, "r-1")).toEqual([no]);
    expect(await answerTo(backend, "r-2")).toEqual([no]);
    expect(plans).toEqual([]);
    await session.close();
  });

  it("is not given for an input that cannot be shown", async () => {
    const { session, backend } = await open({ onPermission: () => "proceed_once" });
    backend.ask("r-1", "droid.request_permission", asking("Execute", "rm -rf /"));
    backend.ask("r-2", "droid.request_permission", asking("Execute", ["rm", "-rf", "/"]));
    expect([await answerTo(backend, "r-1"), await answerTo(backend, "r-2")]).toEqual([[no], [no]]);
    await session.close();
  });

  it("requested under another request's id is given to neither", async () => {
    let answer = (_: string): void => {};
    const { session, backend, warnings } = await open({
      onPermission: ({ signal }) =>
        new Promise((resolve) => {
          answer = resolve;
          signal.addEventListener("abort", () => resolve("proceed_once"));
        }),
    });
    backend.ask("r-1", "droid.request_permission", asking("LS", {}));
    backend.ask("r-1", "droid.request_permission", asking("LS", {}));
    backend.ask("r-1", "droid.request_permission", asking("Execute", { command: "rm -rf /" }));
    await settled();
    answer("proceed_once");
    expect(await answerTo(backend, "r-1")).toEqual([no]);
    expect(warnings).toEqual(["The backend reused the id of an open request; declined both."]);
    await session.close();
  });

  it("is not given to an abandoned turn", async () => {
    let asked = 0;
    const { session, backend } = await open({
      onPermission: ({ signal }) =>
        new Promise((resolve) => {
          asked += 1;
          signal.addEventListener("abort", () => resolve("proceed_once"));
        }),
    });
    const abort = new AbortController();
    const sent = session.send("go", { signal: abort.signal });
    backend.notify(busy);
    backend.ask("r-1", "droid.request_permission", asking("Execute", { command: "ls" }));
    await settled();
    abort.abort(new Error("enough"));
    await expect(sent).rejects.toThrow("enough");
    backend.ask("r-2", "droid.request_permission", asking("Execute", { command: "ls" }));
    expect([await answerTo(backend, "r-1"), await answerTo(backend, "r-2"), asked]).toEqual([[], [no], 1]);
    await session.close();
  });

  it("requested with a numeric id is answered with that number", async () => {
    const { session, backend } = await open({ onPermission: () => "proceed_once" });
    const line = { jsonrpc: "2.0", type: "request", id: 7, method: "droid.request_permission" };
    backend.line(JSON.stringify({ ...line, params: asking("LS", {}) }));
    expect(await answerTo(backend, 7)).toEqual([yes]);
    await session.close();
  });

  it("requested after idle keeps the turn open", async () => {
    let allow = (_: string): void => {};
    const { session, backend } = await open({ onPermission: () => new Promise((resolve) => (allow = resolve)) });
    const sent = session.send("go");
    await backend.next("droid.add_user_message");
    backend.notify(busy, delta("m-1", "Hel"), idle);
    backend.ask("r-1", "droid.request_permission", asking("LS", {}));
    await new Promise((resolve) => setTimeout(resolve, 60));
    allow("proceed_once");
    expect(await answerTo(backend, "r-1")).toEqual([yes]);
    backend.notify(says("m-1", "Hello."), idle);
    expect(await sent).toMatchObject({ status: "completed", text: "Hello." });
    await session.close();
  });

  it("is requested at most 64 times at once", async () => {
    const { session, backend, warnings } = await open({ onPermission: () => new Promise(() => {}) });
    for (let nth = 0; nth < 70; nth += 1) backend.ask(`r-${nth}`, "droid.request_permission", asking("LS", { nth }));
    await settled();
    const answered = backend.received.filter(({ type }) => type === "response");
    expect([answered.length, warnings.length]).toEqual([6, 6]);
    await session.close();
  });

  it("distinguishes numeric ids from strings", async () => {
    const { session, backend } = await open({ onPermission: async () => "proceed_once" });
    for (const id of ["7", 7]) {
      const line = { jsonrpc: "2.0", type: "request", id, method: "droid.request_permission" };
      backend.line(JSON.stringify({ ...line, params: asking("LS", {}) }));
    }
    expect([await answerTo(backend, "7"), await answerTo(backend, 7)]).toEqual([[yes], [yes]]);
    await session.close();
  });

  it("is not given to a request that cannot be compared with the displayed one", async () => {
    const { session, backend } = await open({
      onPermission: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve("proceed_once"))),
    });
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    for (const command of ["ls", "rm -rf /"]) {
      const params = JSON.stringify({ ...asking("Execute", { command }), more: "deep" }).replace('"deep"', deep);
      backend.line(`{"type":"request","id":"r-1","method":"droid.request_permission","params":${params}}`);
    }
    expect(await answerTo(backend, "r-1")).toEqual([no]);
    await session.close();
  });

  it("is not given to another session, without asking", async () => {
    let asked = 0;
    const { session, backend, warnings } = await open({
      onPermission: () => {
        asked += 1;
        return "proceed_once";
      },
    });
    backend.ask("r-1", "droid.request_permission", { ...asking("LS", {}), sessionId: "other" });
    backend.ask("r-2", "droid.request_permission", { ...asking("LS", {}), sessionId: session.id });
    backend.ask("r-3", "droid.ask_user", { sessionId: "other", questions: [] });
    expect([await answerTo(backend, "r-1"), await answerTo(backend, "r-2"), asked]).toEqual([[no], [yes], 1]);
    expect(await answerTo(backend, "r-3")).toEqual([{ cancelled: true, answers: [] }]);
    expect(warnings).toEqual(Array(2).fill("Declined a request of another session: other"));
    await session.close();
  });

  it("is not given by an unreadable answer", async () => {
    const given: unknown[] = [
      { option: 1n },
      {
        get option() {
          throw new Error("not this way");
        },
      },
    ];
    const { session, backend, warnings } = await open({ onPermission: () => given.shift() as string });
    backend.ask("r-1", "droid.request_permission", asking("LS", {}));
    expect(await answerTo(backend, "r-1")).toEqual([no]);
    backend.ask("r-2", "droid.request_permission", asking("LS", {}));
    expect(await answerTo(backend, "r-2")).toEqual([no]);
    expect(warnings).toEqual([
      "The handler named no option; answered with cancel.",
      "The handler of a request failed: not this way",
    ]);
    await session.close();
  });

  it("is not given for too many calls to show", async () => {
    let told = 0;
    const { session, backend } = await open({
      onPermission: () => "proceed_once",
      onEvent: () => {
        told += 1;
      },
    });
    const toolUses = Array.from({ length: 1_001 }, (_, nth) => ({
      toolUse: { id: `c-${nth}`, name: "LS", input: {} },
    }));
    backend.ask("r-1", "droid.request_permission", { options, toolUses });
    backend.ask("r-2", "droid.request_permission", { options, toolUses: toolUses.slice(1) });
    expect([await answerTo(backend, "r-1"), await answerTo(backend, "r-2"), told]).toEqual([[no], [yes], 1_000]);
    await session.close();
  });
});

it.each([
  ["permission", "droid.request_permission"],
  ["an unknown method", "droid.request_tea"],
])("a backend that asks for %s without reading is not read until it does", async (_what, method) => {
  const [connection, far] = linkedConnection({ maxWaiting: 1_000 });
  const opening = createSession({ connect: async () => connection });
  const reader = far.incoming[Symbol.asyncIterator]();
  await reader.next();
  far.send(JSON.stringify({ type: "response", id: "1", result: { sessionId: "s-1" } }));
  const session = await opening;
  for (let id = 0; id < 2_000; id += 1) far.send(JSON.stringify({ type: "request", id, method, params: {} }));
  await settled();
  expect(far.room()).toBeInstanceOf(Promise);
  const answered: number[] = [];
  while (answered.length < 2_000) {
    const { value } = await reader.next();
    answered.push(value?.type === "line" ? JSON.parse(value.text).id : undefined);
  }
  expect(answered).toEqual(Array.from({ length: 2_000 }, (_, id) => id));
  await session.close();
});
