import { AgentError } from "../../../../src/engine/errors.ts";
import type { ModelCatalog, ModelEvent, ModelPort } from "../../../../src/engine/ports.ts";
import { withRetries } from "../../../../src/models/retry.ts";
import type { FakeClock } from "../../../fakes/kit.ts";
import { calls, info, says, usage } from "../../../fakes/kit.ts";
import type { Signal } from "../connection/served.ts";
import { untilAborted } from "../connection/served.ts";

/** A model's behaviour in one call, by name, so that schedules are readable. */
export const replyKinds = [
  "says words",
  "thinks and says words",
  "says a lot",
  "pushes",
  "pushes and hangs",
  "writes a file",
  "reads",
  "reads and hangs",
  "reads twice and pushes",
  "asks",
  "asks and pushes",
  "plans",
  "pushes twice under one call id",
  "calls with broken arguments",
  "calls an unknown tool",
  "streams a call",
  "says nothing",
  "stops at the output limit",
  "declines",
  "fails permanently",
  "is overloaded",
  "is overloaded after words",
  "breaks off",
  "breaks off in a call",
  "hangs",
  "hangs after words",
  "hangs in a call",
  "throws",
] as const;

export type ReplyKind = (typeof replyKinds)[number];

export interface PlannedReply {
  readonly kind: ReplyKind;
  /** Microtasks before each event. */
  readonly pace: number;
}

/** The fate of a hanging model or command. */
export interface Hanging {
  /** Replaced whenever hanging ones are released. */
  now: Signal;
  /** Number of hanging ones. */
  count: number;
}

/** Until hanging ones are released, or `other` resolves. */
export async function hangOn(hanging: Hanging, ...other: readonly Promise<void>[]): Promise<void> {
  hanging.count += 1;
  await Promise.race([hanging.now.come, ...other]);
  hanging.count -= 1;
}

type Hang = { readonly type: "hang" };
type Throw = { readonly type: "throw" };

const text = (words: string): ModelEvent => ({ type: "text", text: words });
const hang: Hang = { type: "hang" };
const end: readonly ModelEvent[] = [
  { type: "usage", usage },
  { type: "end", stop: "end" },
];
const failsWith = (code: "model_failed" | "model_overloaded", retryable: boolean): ModelEvent => ({
  type: "error",
  failure: { code, message: "not now" },
  retryable,
});
const question = { questionnaire: "1. [question] Which?\n[option] this\n[option] that" };

/** `nth` makes every action unique, because nothing may be done twice. */
function eventsOf(kind: ReplyKind, nth: number): readonly (ModelEvent | Hang | Throw)[] {
  const push = ["Execute", { command: `git push origin b${nth}` }] as const;
  const pushInput = JSON.stringify(push[1]);
  const read = ["Read", { file_path: "readme.md" }] as const;
  switch (kind) {
    case "says words":
      return [text("some "), text(`words ${nth}`), ...end];
    case "thinks and says words":
      return [{ type: "thinking", text: "hm" }, { type: "thinking", text: "m" }, ...says(`after thoughts ${nth}`)];
    case "says a lot":
      return [...Array.from({ length: 6 }, (_, n) => text(`${nth}.${n} `.repeat(250))), ...end];
    case "pushes":
      return [text("pushing"), ...calls(push)];
    case "pushes and hangs":
      return calls(["Execute", { command: `git push origin hang${nth}` }]);
    case "writes a file":
      return calls(["Create", { file_path: `f${nth}.txt`, content: "x" }]);
    case "reads":
      return calls(read);
    case "reads and hangs":
      return calls(read, ["Read", { file_path: "hang.md" }]);
    case "reads twice and pushes":
      return calls(read, push, ["LS", {}]);
    case "asks":
      return calls(["AskUser", question]);
    case "asks and pushes":
      return calls(["AskUser", question], push);
    case "plans":
      return calls(["ExitSpecMode", { plan: `1. Do ${nth}.`, title: "Plan" }]);
    case "pushes twice under one call id": {
      const other = JSON.stringify({ command: `git push origin c${nth}` });
      return [
        { type: "tool_call", id: "same", name: "Execute", inputText: pushInput },
        { type: "tool_call", id: "same", name: "Execute", inputText: other },
        { type: "end", stop: "tool_calls" },
      ];
    }
    case "calls with broken arguments":
      return [
        { type: "tool_call", id: "", name: "Execute", inputText: '{"command": "git pu' },
        { type: "tool_call", id: "b", name: "Read", inputText: "[1]" },
        { type: "end", stop: "tool_calls" },
      ];
    case "calls an unknown tool":
      return calls(["Fly", { to: "the moon" }]);
    case "streams a call":
      return [
        text("so: "),
        { type: "tool_input", id: "s1", name: "Execute", text: pushInput.slice(0, 12) },
        { type: "tool_input", id: "s1", name: "Execute", text: pushInput.slice(12) },
        { type: "tool_call", id: "s1", name: "Execute", inputText: pushInput },
        { type: "end", stop: "tool_calls" },
      ];
    case "says nothing":
      return end;
    case "stops at the output limit":
      return [text("and so on "), { type: "end", stop: "length" }];
    case "declines":
      return [text("No."), { type: "end", stop: "refusal" }];
    case "fails permanently":
      return [failsWith("model_failed", false)];
    case "is overloaded":
      return [failsWith("model_overloaded", true)];
    case "is overloaded after words":
      return [text("begun "), failsWith("model_overloaded", true)];
    case "breaks off":
      return [text("broken ")];
    case "breaks off in a call":
      return [text("then "), { type: "tool_input", id: "s2", name: "Execute", text: pushInput.slice(0, 12) }];
    case "hangs":
      return [hang, ...says("late")];
    case "hangs after words":
      return [text("half"), hang, text(" whole"), ...end];
    case "hangs in a call":
      return [
        { type: "tool_input", id: "s3", name: "Execute", text: pushInput.slice(0, 12) },
        hang,
        { type: "tool_call", id: "s3", name: "Execute", inputText: pushInput },
        { type: "end", stop: "tool_calls" },
      ];
    case "throws":
      return [text("oh "), { type: "throw" }];
  }
}

export async function microtasks(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await null;
}

/** Two models that give the replies in order, then text, with retries like real ones. */
export function plannedModels(
  replies: readonly PlannedReply[],
  clock: () => FakeClock,
  hanging: Hanging,
): { readonly models: ModelCatalog; readonly called: { count: number } } {
  const called = { count: 0 };
  async function* stream(_: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const nth = called.count;
    called.count += 1;
    const { kind, pace } = replies[nth] ?? { kind: "says words", pace: 0 };
    for (const event of eventsOf(kind, nth)) {
      await microtasks(pace);
      if (event.type === "throw") throw new Error("a model that throws");
      if (event.type === "hang") await hangOn(hanging, untilAborted(signal));
      if (signal.aborted) return;
      if (event.type !== "hang") yield event;
    }
  }
  const modelOf = (id: string): ModelPort => withRetries({ info: { ...info, id }, stream }, lazyClock(clock));
  const known = ["fake", "other"].map(modelOf);
  return {
    called,
    models: {
      list: async () => known.map((model) => model.info),
      unusable: async () => [],
      async resolve(id) {
        const found = known.find((model) => model.info.id === id);
        if (found === undefined) throw new AgentError("model_unknown", `There is no model ${id}.`);
        return found;
      },
    },
  };
}

/** The kit creates the clock, and needs the models first. */
function lazyClock(clock: () => FakeClock) {
  return {
    now: () => clock().now(),
    monotonic: () => clock().monotonic(),
    // A model hangs until it is aborted: silence limits are off here.
    after: (ms: number, callback: () => void, { background = false } = {}) =>
      background ? () => undefined : clock().after(ms, callback),
  };
}
