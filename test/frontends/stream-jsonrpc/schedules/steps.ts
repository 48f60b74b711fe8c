import fc from "fast-check";
import type { PlannedReply } from "./replies.ts";
import { replyKinds } from "./replies.ts";

/** Which client acts: the second is another connection to the same engine. */
export type Who = 0 | 1;

export type Leaving =
  /** It sends no more, but keeps reading. */
  | "ends its input"
  /** It neither sends nor reads any more. */
  | "is gone"
  /** The program is asked to stop. */
  | "is stopped";

export const answers = {
  proceed_once: { result: { selectedOption: "proceed_once" } },
  proceed_always: { result: { selectedOption: "proceed_always" } },
  proceed_auto_run_high: { result: { selectedOption: "proceed_auto_run_high" } },
  cancel: { result: { selectedOption: "cancel" } },
  "cancel with a comment": { result: { selectedOption: "cancel", comment: "not here" } },
  "an answer": { result: { cancelled: false, answers: ["this"] } },
  "too many answers": { result: { answers: ["this", "that", "more"] } },
  "no answers": { result: { cancelled: true } },
  "an answer beyond a small record": { result: { cancelled: false, answers: ["this ".repeat(6_000)] } },
  "a word that is not offered": { result: { selectedOption: "sure" } },
  "a number": { result: 0 },
  nothing: {},
  "an error": { error: { code: -32000, message: "no screen" } },
} as const;

export type Step =
  /** `id`: one that others use as well; default: a unique one. */
  | { readonly do: "ask"; readonly who: Who; readonly method: string; readonly params: unknown; readonly id?: string }
  /** A session known by then, or an unknown one. */
  | { readonly do: "load"; readonly who: Who; readonly which: number | "the newest" }
  | { readonly do: "raw"; readonly who: Who; readonly line: string }
  | {
      readonly do: "answer";
      readonly who: Who;
      readonly which: "the newest" | "the oldest" | "an unknown" | "the other client's";
      readonly how: keyof typeof answers;
      readonly times: 1 | 2;
    }
  | { readonly do: "stop reading" | "read on"; readonly who: Who }
  | { readonly do: "leave"; readonly who: Who; readonly how: Leaving }
  /** Another user of the engine, attached to the newest session. */
  | { readonly do: "attach"; readonly approve: boolean; readonly answer: boolean }
  | { readonly do: "second answers"; readonly yes: boolean }
  | { readonly do: "second prompts" | "second interrupts" | "second leaves" }
  /** The same prompt under the same id that a client sends. */
  | { readonly do: "second repeats"; readonly text: string; readonly messageId: string }
  | { readonly do: "go on" }
  | { readonly do: "store fails"; readonly writes: number }
  | { readonly do: "store hangs"; readonly after: number }
  | { readonly do: "time passes"; readonly ms: number }
  /** 0: until nothing moves on its own. */
  | { readonly do: "wait"; readonly microtasks: number };

export interface Schedule {
  /** The first client's first request; absent: it opens no session. */
  readonly level: string | undefined;
  /** Whether each client names its protocol. */
  readonly later: readonly [boolean, boolean];
  readonly maxWaiting: number;
  readonly replies: readonly PlannedReply[];
  /** Microtasks that each write to the log takes, in turn. */
  readonly storePaces: readonly number[];
  /** The log rejects larger records, as the real one does beyond 16 MiB. */
  readonly maxRecord: number;
  readonly steps: readonly Step[];
  readonly leaving: readonly [Leaving, Leaving];
  /** Long work yields to the event loop at every chance, as on a busy machine; otherwise never. */
  readonly isBusyMachine: boolean;
}

const who: fc.Arbitrary<Who> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Who>(0) },
  { weight: 1, arbitrary: fc.constant<Who>(1) },
);
const from = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

function asks(method: string, ids: readonly (string | undefined)[], ...params: readonly unknown[]): fc.Arbitrary<Step> {
  return fc.record({ who, params: from(...params), id: from(...ids) }).map(({ who, params, id }) => {
    const step = { do: "ask", who, method: `droid.${method}`, params } as const;
    return id === undefined ? step : { ...step, id };
  });
}

/** Requests that open or close sessions, or name a turn, have unique ids, because the rules refer to them. */
const own = [undefined];
const any = [undefined, undefined, undefined, "", "shared"];
const start = { machineId: "m", cwd: "/ws" };

const few = from(0, 0, 0, 1, 2, 3, 5, 8, 13, 30);
const leaving = from<Leaving>("ends its input", "ends its input", "is gone", "is stopped");

const line = (message: object): string => JSON.stringify({ jsonrpc: "2.0", factoryApiVersion: "1.0.0", ...message });
const request = { type: "request", method: "droid.list_skills", params: {} };

const pause: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("wait" as const),
  microtasks: fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    few,
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 50, max: 600 }),
  ),
});

const answer: fc.Arbitrary<Step & { do: "answer" }> = fc.record({
  do: fc.constant("answer" as const),
  who,
  which: from<(Step & { do: "answer" })["which"]>(
    ...([
      "the newest",
      "the newest",
      "the newest",
      "the newest",
      "the oldest",
      "an unknown",
      "the other client's",
    ] as const),
  ),
  how: from(
    "proceed_once",
    "proceed_once",
    "an answer",
    ...(Object.keys(answers) as readonly (keyof typeof answers)[]),
  ),
  times: from<1 | 2>(1, 1, 1, 2),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: asks(
      "initialize_session",
      own,
      { ...start, autonomyLevel: "off" },
      { ...start, autonomyLevel: "auto-high" },
      { ...start, autonomyLevel: "spec" },
      { ...start, sessionId: "mine" },
      { ...start, autoRejectPermissionRequests: true },
      { ...start, cwd: "/no" },
      { ...start, modelId: "none" },
      {},
    ),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("load" as const), who, which: fc.nat(6) }) },
  { weight: 6, arbitrary: asks("add_user_message", any, { text: "a" }, { text: "b", messageId: "" }) },
  {
    weight: 6,
    arbitrary: asks(
      "add_user_message",
      own,
      { text: "c", messageId: "m1" },
      { text: "d", messageId: "m2" },
      { text: "e", messageId: "root" },
    ),
  },
  asks("add_user_message", own, {}, { text: 1, messageId: "m3" }),
  { weight: 4, arbitrary: asks("interrupt_session", any, {}, {}, {}, undefined) },
  {
    weight: 4,
    arbitrary: asks(
      "update_session_settings",
      any,
      { autonomyLevel: "off" },
      { autonomyLevel: "low" },
      { autonomyLevel: "high" },
      { autonomyMode: "spec" },
      { interactionMode: "auto" },
      { modelId: "other" },
      { modelId: "fake", disabledToolIds: ["Read"] },
      { autonomyLevel: "?" },
      {},
    ),
  },
  asks("close_session", own, {}, { reason: 1 }),
  asks("rename_session", any, { title: "a name" }, { title: "" }),
  { weight: 2, arbitrary: asks("fork_session", own, {}, { title: "copy" }, { title: 1 }) },
  asks("get_context_stats", any, {}),
  asks("list_tools", any, {}, { modelId: 4 }),
  asks("list_models", any, {}),
  asks("nothing_like_it", any, {}),
  fc.record({
    do: fc.constant("raw" as const),
    who,
    line: from(
      "{",
      "[]",
      "7",
      line({ ...request, id: 7 }),
      line({ ...request, id: null }),
      line(request),
      line({ ...request, type: "notification" }),
      line({ type: "response" }),
      '{"id":"x"}',
    ),
  }),
  { weight: 8, arbitrary: answer },
  { weight: 2, arbitrary: fc.record({ do: from("stop reading" as const, "read on" as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), who, how: leaving }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("attach" as const), approve: fc.boolean(), answer: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("second answers" as const), yes: fc.boolean() }) },
  from<Step>({ do: "second prompts" }, { do: "second interrupts" }, { do: "second leaves" }),
  from<Step>(
    { do: "second repeats", text: "c", messageId: "m1" },
    { do: "second repeats", text: "s", messageId: "m4" },
  ),
  { weight: 2, arbitrary: fc.constant<Step>({ do: "go on" }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("store hangs" as const), after: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("time passes" as const), ms: from(250, 1_000, 10_000) }) },
  { weight: 16, arbitrary: pause },
);

const storeFault = fc.record({ do: fc.constant("store fails" as const), writes: from(1, 1, 2) });

/** A prompt and its consequences, because most faults need something under way. */
const scene: fc.Arbitrary<readonly Step[]> = fc
  .record({
    who,
    messageId: from(undefined, "", "m1", "m4"),
    before: pause,
    answer,
    after: pause,
    isAnswered: fc.boolean(),
  })
  .map(({ who, messageId, before, answer, after, isAnswered }) => [
    { do: "ask", who, method: "droid.add_user_message", params: { text: "s", messageId } },
    before,
    ...(isAnswered ? [{ ...answer, who }, after] : []),
  ]);

/** A client sends a prompt, and another attachment the same one under the same id, before or after it. */
const doubled: fc.Arbitrary<readonly Step[]> = fc
  .record({ who, between: pause, isBehind: fc.boolean(), abilities: fc.boolean() })
  .map(({ who, between, isBehind, abilities }) => {
    const prompt = { text: "s", messageId: "m4" };
    const sent: Step = { do: "ask", who, method: "droid.add_user_message", params: prompt };
    const repeated: Step = { do: "second repeats", ...prompt };
    const second: Step = { do: "attach", approve: abilities, answer: abilities };
    return [second, ...(isBehind ? [sent, between, repeated] : [repeated, between, sent])];
  });

/** A fork, a fork of that, and a prompt there. */
const forks: fc.Arbitrary<readonly Step[]> = fc
  .record({ who, depth: from(1, 2, 3), between: pause })
  .map(({ who, depth, between }) => [
    ...Array.from({ length: depth }, (): readonly Step[] => [
      { do: "ask", who, method: "droid.fork_session", params: {} },
      between,
      { do: "load", who, which: "the newest" },
      between,
    ]).flat(),
    { do: "ask", who, method: "droid.add_user_message", params: { text: "in the fork" } },
    between,
  ]);

const one = step.map((each): readonly Step[] => [each]);

function severalOf(part: fc.Arbitrary<readonly Step[]>): fc.Arbitrary<readonly Step[]> {
  return fc.array(part, { minLength: 1, maxLength: 24, size: "max" }).map((parts) => parts.flat());
}

const usual: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 20, arbitrary: one },
  { weight: 8, arbitrary: scene },
  { weight: 1, arbitrary: doubled },
  { weight: 1, arbitrary: forks },
);

/** Most disks work; the others fail now and then. */
const busySteps: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 3, arbitrary: severalOf(usual) },
  {
    weight: 1,
    arbitrary: severalOf(
      fc.oneof({ weight: 11, arbitrary: usual }, { weight: 1, arbitrary: storeFault.map((each) => [each]) }),
    ),
  },
);

const quiet: Step = { do: "wait", microtasks: 0 };

/** Some leave in the middle, and some when nothing moves any more. */
const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(busySteps, fc.boolean())
  .map(([busy, isQuietAtLast]) => (isQuietAtLast ? [...busy, quiet] : busy));

export const schedule: fc.Arbitrary<Schedule> = fc
  .record<Schedule>({
    level: from<string | undefined>("off", "off", "off", "off", "normal", "normal", "low", "high", "spec", undefined),
    later: fc.tuple(fc.boolean(), fc.boolean()),
    maxWaiting: from(300, 3_000, 1_000_000),
    replies: fc.array(fc.record({ kind: from(...replyKinds), pace: few }), {
      minLength: 4,
      maxLength: 16,
      size: "max",
    }),
    storePaces: fc.array(few, { minLength: 1, maxLength: 4 }),
    maxRecord: from(...Array<number>(8).fill(Number.POSITIVE_INFINITY), 2_000, 20_000),
    steps,
    leaving: fc.tuple(leaving, leaving),
    isBusyMachine: from(false, false, true),
  })
  .map((made) => ({ ...made, [fc.toStringMethod]: () => wordsOf(made) }));

/** A schedule in words. */
export function wordsOf({
  level,
  later,
  maxWaiting,
  replies,
  storePaces,
  maxRecord,
  steps,
  leaving,
  isBusyMachine,
}: Schedule): string {
  const dialects = later.map((is) => (is ? "later" : "early"));
  return [
    `\n  begins at: ${level ?? "no session"}; dialects: ${dialects.join(", ")}; room for ${maxWaiting} characters`,
    `  a write takes ${storePaces.join(", ")} microtasks, a record at most ${maxRecord} characters`,
    ...(isBusyMachine ? ["  the machine is busy"] : []),
    `  the model: ${replies.map(({ kind, pace }) => (pace === 0 ? kind : `${kind} (${pace})`)).join("; ")}`,
    ...steps.map((each, index) => `  ${index + 1}. ${stepWords(each)}`),
    `  at last: ${leaving.map((how, nth) => `client ${nth + 1} ${how}`).join(", ")}\n`,
  ].join("\n");
}

function stepWords(step: Step): string {
  const by = "who" in step ? `client ${step.who + 1}` : "";
  switch (step.do) {
    case "ask":
      return `${by}: ${step.method} ${JSON.stringify(step.params)}${step.id === undefined ? "" : ` as ${JSON.stringify(step.id)}`}`;
    case "load":
      return `${by}: droid.load_session of session ${step.which}`;
    case "raw":
      return `${by} writes ${step.line}`;
    case "answer":
      return `${by} answers ${step.which} request: ${step.how}${step.times === 2 ? ", twice" : ""}`;
    case "stop reading":
    case "read on":
      return `${by}: ${step.do}`;
    case "leave":
      return `${by} ${step.how}`;
    case "attach":
      return `a second attachment comes (approves: ${step.approve}, answers: ${step.answer})`;
    case "second answers":
      return `the second attachment says ${step.yes ? "yes" : "no"}`;
    case "second repeats":
      return `the second attachment prompts "${step.text}" as ${step.messageId}`;
    case "second prompts":
    case "second interrupts":
    case "second leaves":
      return `the ${step.do.replace("second", "second attachment")}`;
    case "go on":
      return "hanging work continues";
    case "store fails":
      return `the next ${step.writes} write(s) to the log fail`;
    case "store hangs":
      return `the write to the log after ${step.after} other(s) hangs`;
    case "time passes":
      return `${step.ms} ms pass`;
    case "wait":
      return step.microtasks === 0 ? "wait until nothing moves" : `wait ${step.microtasks} microtasks`;
  }
}
