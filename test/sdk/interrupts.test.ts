import { describe, expect, it } from "vitest";
import { until } from "../fakes/kit.ts";
import { busy, createFakeBackend, delta, idle, message, openOver, says } from "./fakes/fake-backend.ts";

const toolUse = { type: "tool_use", id: "c-1", name: "LS", input: {} };
const result = { type: "tool_result", toolUseId: "c-1", messageId: "r-1", content: "a.txt", isError: false };

describe("an interrupt", () => {
  it.each<[string, (nth: number) => object]>([
    ["text", () => delta("m-1", "more ")],
    ["tool_call", (nth) => ({ type: "tool_call", toolUse: { ...toolUse, id: `c-${nth}` } })],
    ["create_message", (nth) => says(`m-${nth}`, "more")],
    ["tool_result", (nth) => ({ ...result, toolUseId: `c-${nth}`, messageId: `r-${nth}` })],
    [
      "tool_progress_update",
      (nth) => ({ type: "tool_progress_update", toolUseId: "c-1", toolName: "LS", update: { text: `${nth}` } }),
    ],
  ])("that the backend acknowledges and ignores is sent again while %s keeps coming", async (_, next) => {
    const { session, backend } = await openOver(createFakeBackend(), { timeouts: { grace: 1 } });
    const turn = session.stream("go", { id: "t-1" });
    await backend.next("droid.add_user_message");
    backend.notify(busy);
    await turn.interrupt();
    await backend.next("droid.interrupt_session");
    const isAgain = (): boolean =>
      backend.received.filter(({ method }) => method === "droid.interrupt_session").length > 1;
    let nth = 0;
    await until(() => {
      nth += 1;
      if (!isAgain()) backend.notify(next(nth));
      return isAgain();
    });
    backend.notify(idle);
    expect(await turn.result).toMatchObject({ status: "interrupted" });
    await session.close();
  });

  it("that the backend obeys is sent once, although some output still arrives", async () => {
    const { session, backend } = await openOver(createFakeBackend(), { timeouts: { grace: 60_000 } });
    const turn = session.stream("go", { id: "t-1" });
    await backend.next("droid.add_user_message");
    backend.notify(busy, delta("m-1", "a"));
    await turn.interrupt();
    const whole = message("m-1", "assistant", { type: "text", text: "abc" });
    backend.notify(delta("m-1", "b"), delta("m-1", "c"), whole, idle);
    expect(await turn.result).toMatchObject({ status: "interrupted", text: "abc" });
    expect(backend.received.filter(({ method }) => method === "droid.interrupt_session")).toHaveLength(1);
    await session.close();
  });

  it("overtakes a compaction, which has longer to answer than other requests", async () => {
    const { session, backend } = await openOver(createFakeBackend(), { timeouts: { request: 20 } });
    const compacting = session.call("compact_session");
    const asked = await backend.next("droid.compact_session");
    expect(await session.call("interrupt_session")).toEqual({});
    await new Promise((resolve) => setTimeout(resolve, 40));
    backend.result(asked, { newSessionId: session.id, removedCount: 2 });
    expect(await compacting).toEqual({ newSessionId: session.id, removedCount: 2 });
    await session.close();
  });
});
