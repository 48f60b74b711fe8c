import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/core/ports.ts";
import type { FakeReply } from "../../../fakes/kit.ts";
import { calls, says } from "../../../fakes/kit.ts";
import type { LinkedClient } from "../../../fakes/rpc/linked-client.ts";
import { answeredId, storyOf } from "../../../fakes/rpc/linked-client.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import { hangsAfter, idOf, serve } from "./served.ts";

/** What a client may do next; `pause` lets what was asked so far happen. */
type Step =
  | { readonly do: "ask"; readonly method: string; readonly params: unknown }
  | { readonly do: "raw"; readonly line: string }
  | { readonly do: "answer"; readonly result: unknown }
  | { readonly do: "pause" };

const asks = (method: string, ...params: readonly unknown[]): fc.Arbitrary<Step> =>
  fc.constantFrom(...params).map((each) => ({ do: "ask", method: `droid.${method}`, params: each }) as const);

const start = { machineId: "m", cwd: "/ws" };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: asks("initialize_session", start, { ...start, sessionId: "mine" }, { ...start, cwd: "/no" }, {}),
    weight: 2,
  },
  {
    arbitrary: asks("load_session", { sessionId: "mine" }, { sessionId: idOf(1) }, { sessionId: "../x" }, null),
    weight: 2,
  },
  {
    arbitrary: asks(
      "add_user_message",
      { text: "a" },
      { text: "b", messageId: "m1" },
      { text: "c", messageId: "m2" },
      {},
    ),
    weight: 5,
  },
  { arbitrary: asks("interrupt_session", {}, undefined), weight: 2 },
  asks("update_session_settings", { autonomyLevel: "low" }, { autonomyMode: "normal" }, { autonomyLevel: "?" }, {}),
  asks("close_session", {}, { reason: 1 }),
  asks("rename_session", { title: "a" }, { title: "" }),
  asks("fork_session", {}, { title: 1 }),
  asks("get_context_stats", {}),
  asks("list_tools", {}, { disabledToolIds: ["Read"] }, { modelId: 4 }),
  asks("nothing_like_it", {}),
  fc.constantFrom<Step>({ do: "raw", line: "{" }, { do: "raw", line: "[]" }, { do: "raw", line: '{"id":"x"}' }),
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step>(
      { do: "answer", result: { selectedOption: "proceed_once" } },
      { do: "answer", result: { selectedOption: "cancel" } },
      { do: "answer", result: 0 },
    ),
  },
  { arbitrary: fc.constant<Step>({ do: "pause" }), weight: 4 },
);

const kinds: readonly FakeReply[] = [
  says("words"),
  calls(["Execute", { command: "git push" }]),
  calls(["Read", { file_path: "readme.md" }]),
  calls(["AskUser", { questionnaire: "1. [question] Which?" }], ["Execute", { command: "git push" }]),
  hangsAfter({ type: "text", text: "half" }),
  [{ type: "error", failure: { code: "model_failed", message: "no" }, retryable: false }] satisfies ModelEvent[],
];

test("whatever is asked, in any order, is answered exactly once, and every turn that begins ends once", async () => {
  const replies = fc.array(fc.constantFrom(...kinds), { minLength: 40, maxLength: 40 });
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 30, size: "max" }),
    replies,
    fc.boolean(),
    fc.boolean(),
    async (steps, given, later, isOpen) => {
      const { client, init, over } = serve(given, { later });
      if (isOpen) await init({ autonomyLevel: "normal" });
      const names = new Map<string, string>();
      for (const each of steps) {
        if (each.do === "ask") names.set(client.ask(each.method, each.params), nameIn(each.params));
        if (each.do === "raw") client.sendRaw(each.line);
        if (each.do === "pause") await aWhile();
        const open = client.received.filter(({ type }) => type === "request").at(-1)?.id;
        if (each.do === "answer" && typeof open === "string") client.answer(open, each.result);
      }
      // A turn may hang until somebody stops it.
      client.ask("droid.interrupt_session", {});
      client.end();
      await over;
      const expected = [
        ...client.methods.keys(),
        ...steps.flatMap((each) => (each.do === "raw" ? [rawId(each.line)] : [])),
      ];
      const answered = client.received.filter(({ type }) => type === "response").map(answeredId);
      expect(answered.map(String).sort()).toEqual(expected.map(String).sort());
      checkNamedTurns(client, names);
      checkStory(storyOf(client.received));
      const requests = client.received.filter(
        ({ type, method }) => type === "request" && method?.endsWith("permission"),
      );
      const resolved = client.received.flatMap(({ params }) => params?.notification?.requestId ?? []);
      for (const { id } of requests) expect(resolved.filter((each) => each === id)).toHaveLength(1);
    },
  );
  await fc.assert(property, { numRuns: 200 });
});

function nameIn(params: unknown): string {
  return (params as { readonly messageId?: string } | undefined | null)?.messageId ?? "";
}

/** Whoever names a turn, and is told that it was taken, hears of its end once. */
function checkNamedTurns({ received }: LinkedClient, names: ReadonlyMap<string, string>): void {
  const taken = received.flatMap(({ type, id, result }) =>
    type === "response" && result !== undefined ? (names.get(String(id)) ?? []) : [],
  );
  const ended = noticesIn(received).flatMap(({ type, turnId }) =>
    type === "agent_turn_completed" && typeof turnId === "string" && turnId.startsWith("m") ? [turnId] : [],
  );
  expect(ended.sort()).toEqual(taken.filter((name) => name !== "").sort());
}

async function aWhile(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

function rawId(line: string): string | undefined {
  return line.includes('"x"') ? "x" : undefined;
}

/** No state twice in a row; between two idles exactly one turn that was completed last. */
function checkStory(story: readonly string[]): void {
  const states = story.filter((line) => line.startsWith("state "));
  expect(states.filter((line, index) => line === states[index - 1])).toEqual([]);
  if (states.length > 0) expect(states.at(-1)).toBe("state idle");
  for (const [index, line] of story.entries()) {
    if (line !== "state idle") continue;
    expect(story.slice(0, index).findLast((each) => !each.startsWith("result") && !each.startsWith("error r"))).toBe(
      "agent_turn_completed",
    );
  }
}
