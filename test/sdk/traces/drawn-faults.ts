import fc from "fast-check";
import { type Random, randomFrom } from "../../fakes/seeded-random.ts";
import { completed, delta, idle, message } from "../fakes/fake-backend.ts";
import type { Item, Notice } from "./drawn-turns.ts";

/* Deviations of backends in their turns. None may change what a client sees. */

export interface Faults {
  /** By place. */
  readonly seed: number;
  readonly names: readonly FaultName[];
}

interface Told {
  readonly items: readonly Item[];
  /** Messages that come only when the next turn has begun. */
  readonly late: readonly Item[];
}

type Fault = (told: Told, random: Random) => Told;

type Fields = Readonly<Record<string, unknown>>;
const noticeOf = (item: Item): Notice | undefined => ("notice" in item ? item.notice : undefined);
const fieldsOf = (item: Item): Fields => noticeOf(item) ?? {};
const typeOf = (item: Item): string | undefined => noticeOf(item)?.type;
const isState = (item: Item): boolean => typeOf(item) === "droid_working_state_changed";
const isIdle = (item: Item): boolean => isState(item) && noticeOf(item)?.newState === "idle";
const isDelta = (item: Item): boolean => /_text_delta$/.test(typeOf(item) ?? "");
const told = (notice: object): Item => ({ notice: notice as Notice });

const each =
  (change: (item: Item, random: Random, at: number, all: readonly Item[]) => readonly Item[]): Fault =>
  ({ items, late }, random) => ({ items: items.flatMap((item, at) => change(item, random, at, items)), late });

const without = (isGone: (item: Item) => boolean): Fault => each((item) => (isGone(item) ? [] : [item]));

function messageIdOf(item: Item): unknown {
  const { messageId, message: whole } = fieldsOf(item);
  return messageId ?? (whole as { id?: unknown } | undefined)?.id;
}

/** Whether the reply of these deltas comes as a message. */
function isFinished(piece: Item, all: readonly Item[]): boolean {
  return all.some((item) => typeOf(item) === "create_message" && messageIdOf(item) === messageIdOf(piece));
}

function saidBy(item: Item): { readonly role?: string; readonly content?: readonly { readonly type: string }[] } {
  return fieldsOf(item).message ?? {};
}

const isSaid = (item: Item): boolean => saidBy(item).role === "assistant" && typeof messageIdOf(item) === "string";
const isFinalReply = (item: Item): boolean =>
  isSaid(item) && saidBy(item).content?.every(({ type }) => type !== "tool_use") === true;
const signs = new Set(["llm_retry", "error", "tool_result"]);

function toolUseIdOf(item: Item): unknown {
  const { toolUse, toolUseId } = fieldsOf(item);
  return toolUseId ?? (toolUse as { id?: unknown } | undefined)?.id;
}

const isTwofold = (item: Item): boolean => ["create_message", "tool_result"].includes(typeOf(item) ?? "");
const strays = ["Debugger attached.", '{"level":"warn","msg":"cut of', "", "null", "[1]", '"text"', "\u0000", "{}"];
const strangers: readonly object[] = [
  { type: "news_of_tomorrow", messageId: "m-0-end", text: "no" },
  { type: "toString" },
  { type: 17 },
  {},
  { type: "assistant_text_delta" },
  { type: "create_message" },
  { type: "create_message", message: { id: 1, role: "assistant", content: "x" } },
  { type: "tool_result_of_tomorrow", toolUseId: "call_0" },
  { type: "tool_call", toolUse: null },
  { type: "droid_working_state_changed", newState: null },
  { type: "permission_resolved", requestId: "nobody" },
];

const faults = {
  /** All copies at once, any number of times. */
  copies: each((item, random) => (isTwofold(item) || isState(item) ? Array(1 + random.below(3)).fill(item) : [item])),
  /** A much later copy of a message. */
  lateCopies: ({ items, late }, random) => {
    const now = [...items];
    for (const item of items.filter((one) => typeOf(one) === "create_message")) {
      const from = now.indexOf(item) + 1;
      if (random.chance(0.5)) now.splice(from + random.below(now.length - from + 1), 0, item);
    }
    return { items: now, late: [...late, ...items.filter((one) => typeOf(one) === "create_message")] };
  },
  earlyIdle: ({ items, late }) => {
    const isHeld = (item: Item): boolean => isFinalReply(item);
    const held = items.filter(isHeld).slice(-1);
    return { items: [...items.filter((item) => !held.includes(item)), ...held], late };
  },
  /** A reply's deltas restart, perhaps with other text. */
  restarts: each((item, random, _at, all) => {
    if (typeOf(item) !== "assistant_text_delta" || !isFinished(item, all) || random.chance(0.5)) return [item];
    const own = all.filter((one) => typeOf(one) === "assistant_text_delta" && messageIdOf(one) === messageIdOf(item));
    const again = own.slice(0, own.indexOf(item) + 1);
    return random.chance(0.5) ? [item, ...again] : [told(delta(String(messageIdOf(item)), "something else")), ...again];
  }),
  /** A reply starts under another id first, and is abandoned. */
  otherIds: each((item, random, at, all) => {
    const isFirst = isDelta(item) && !all.slice(0, at).some((one) => messageIdOf(one) === messageIdOf(item));
    if (!isFirst || !isFinished(item, all) || random.chance(0.5)) return [item];
    return [told(delta(`${String(messageIdOf(item))}-given-up`, "never mind")), item];
  }),
  noPieces: each((item, _random, _at, all) => (isDelta(item) && isFinished(item, all) ? [] : [item])),
  /** A reply's last deltas are missing. */
  lostPieces: each((item, random, _at, all) => {
    const isText = typeOf(item) === "assistant_text_delta" && isFinished(item, all);
    return isText && random.chance(0.3) ? [] : [item];
  }),
  usageLater: ({ items, late }) => {
    const isUsage = (item: Item): boolean => typeOf(item) === "session_token_usage_changed";
    return { items: items.filter((item) => !isUsage(item)), late: [...late, ...items.filter(isUsage)] };
  },
  noTurnEnd: without((item) => typeOf(item) === "agent_turn_completed"),
  /** Only idle marks the end; the rest comes when the next turn runs. */
  lateTurnEnd: ({ items, late }) => {
    const isEnd = (item: Item): boolean => typeOf(item) === "agent_turn_completed";
    return { items: items.filter((item) => !isEnd(item)), late: [...late, ...items.filter(isEnd)] };
  },
  otherTurnEnds: each((item, random) => (random.chance(0.2) ? [told(completed("nobody", "error")), item] : [item])),
  repeatedCalls: each((item, random, at, all) => {
    if (typeOf(item) !== "tool_result") return [item];
    const announced = all
      .slice(0, at)
      .filter((one) => typeOf(one) === "tool_call" && toolUseIdOf(one) === toolUseIdOf(item))
      .slice(-1);
    return [
      ...Array(1 + random.below(3))
        .fill(announced)
        .flat(),
      item,
      ...announced,
    ];
  }),
  noAnnouncements: without((item) => typeOf(item) === "tool_call"),
  strangeNews: each((item, random) => (random.chance(0.3) ? [told(random.pick(strangers)), item] : [item])),
  strayLines: each((item, random) => (random.chance(0.3) ? [{ line: random.pick(strays) }, item] : [item])),
  moreFields: each((item) => {
    const notice = noticeOf(item);
    return notice === undefined ? [item] : [told({ ...notice, quirk: { list: [null, 1] }, requestId: "x" })];
  }),
  systemMessages: each((item, random, at) => {
    const words = { type: "text", text: "<system-reminder>" };
    return at > 0 && random.chance(0.2) ? [told(message(`s-${at}`, "system", words)), item] : [item];
  }),
  lateIdles: ({ items, late }) => ({ items, late: [...late, told(idle), told(idle)] }),
  quietPermissions: without((item) => typeOf(item) === "permission_resolved"),
  /** It reports idle but never busy, unless busy is the only sign of the turn. */
  neverBusy: (now, random) => {
    const isSign = (item: Item): boolean => isDelta(item) || isSaid(item) || signs.has(typeOf(item) ?? "");
    return now.items.some(isSign) ? without((item) => isState(item) && !isIdle(item))(now, random) : now;
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as readonly FaultName[];

export const drawnFaults: fc.Arbitrary<Faults> = fc.record({
  seed: fc.nat(1_000_000),
  names: fc.subarray([...faultNames]),
});

/** Without busy states and deltas, an expected reply cannot be known. */
function isPossible(name: FaultName, names: readonly FaultName[]): boolean {
  return name !== "earlyIdle" || !names.includes("neverBusy");
}

/** The same turns with these deviations. */
export function withFaults(turns: readonly (readonly Item[])[], { seed, names }: Faults): readonly (readonly Item[])[] {
  const random = randomFrom(seed);
  const chosen = faultNames.filter((name) => names.includes(name) && isPossible(name, names));
  let late: readonly Item[] = [];
  return turns.map((items) => {
    let now: Told = { items, late: [] };
    for (const name of chosen) now = (faults[name] as Fault)(now, random);
    const whole = [...late, ...now.items];
    ({ late } = now);
    return whole;
  });
}
