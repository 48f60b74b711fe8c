import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import type { Received } from "../../fakes/rpc/wire.ts";
import { isFullRun } from "../../full-run.ts";
import type { Run } from "../../replay/trace.ts";
import { readTrace, traceNames } from "../../replay/trace.ts";
import { expectedMessages } from "./trace-oracle.ts";
import type { PlayedRun, PlayedTurn } from "./trace-player.ts";
import { playScript } from "./trace-player.ts";
import type { Scene } from "./trace-script.ts";
import { isState, messageOf, scriptOf } from "./trace-script.ts";
import { expectedOf, seenIn } from "./trace-seen.ts";

/* The traces again, from servers with other backends' deviations. */

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const names = traceNames();

describe("repeated messages count once", () => {
  const twice = new Set([
    ...["create_message", "tool_result", "tool_call", "droid_working_state_changed"],
    ...["settings_updated", "session_title_updated"],
  ]);
  test.each(names)("%s", async (name) => {
    for (const [, scenes] of runsOf(name)) {
      const bent = scenes.flatMap((scene): readonly Scene[] =>
        scene.by === "server" && twice.has(typeOf(scene.message)) ? [scene, scene] : [scene],
      );
      expect(await playScript(bent)).toEqual(await playScript(scenes));
    }
  });
});

describe("unknown fields and types are passed on, and change nothing", () => {
  const unknown = { type: "from_another_day", more: { to: ["know"] } };
  const given: TurnEvent = { type: "other", name: unknown.type, given: unknown };
  const notification = { jsonrpc: "2.0", type: "notification", method: "droid.session_notification" };
  const stranger: Scene = { by: "server", message: { ...notification, params: { notification: unknown } } };
  test.each(names)("%s", async (name) => {
    for (const [, scenes] of runsOf(name)) {
      const bent = scenes.flatMap((scene): readonly Scene[] =>
        scene.by === "server" ? [{ ...scene, message: withExtras(scene.message) }, stranger] : [scene],
      );
      const played = await playScript(bent);
      const strangers = bent.filter((scene) => scene === stranger).length;
      expect(played.events.filter((event) => isEqual(event, given)).length).toBe(strangers);
      expect(without(played, given)).toEqual(await playScript(scenes));
    }
  });
});

describe("waits out an idle before the last message", () => {
  test.each(names)("%s", async (name) => {
    for (const [run, scenes] of runsOf(name)) {
      const early = await playScript(withEarlyIdle(scenes));
      expect(seenIn(early)).toEqual(expectedOf(run, scenes));
      expect(early.turns.map(messagesOf)).toEqual((await playScript(scenes)).turns.map(messagesOf));
    }
  });

  test("even for a message without deltas", async () => {
    for (const [run, scenes] of names.flatMap(runsOf)) {
      const told = new Set(expectedMessages(run));
      const bent = withEarlyIdle(scenes).filter((scene) => !isPieceOf(scene, told));
      expect(seenIn(await playScript(bent))).toEqual(expectedOf(run, scenes));
    }
  });

  test("there are many of them", () => {
    const bent = names.flatMap((name) => runsOf(name).filter(([, scenes]) => !isEqual(withEarlyIdle(scenes), scenes)));
    expect(bent.length).toBeGreaterThan(30);
  });
});

describe("an idle before anything of a turn does not end it", () => {
  const newState = "idle";
  const notification = { type: "droid_working_state_changed", newState };
  const params = { notification };
  const idle: Scene = { by: "server", message: { method: "droid.session_notification", type: "notification", params } };
  test.each(names)("%s", async (name) => {
    for (const [run, scenes] of runsOf(name)) {
      const prompts = new Set(
        scenes.flatMap((one) => (one.by === "client" && one.act.type === "prompt" ? [one.key] : [])),
      );
      const bent = scenes.flatMap((scene): readonly Scene[] =>
        scene.by === "server" && prompts.has(scene.answers ?? Number.NaN) ? [scene, idle] : [scene],
      );
      expect(seenIn(await playScript(bent))).toEqual(expectedOf(run, scenes));
    }
  });
});

describe("a dying backend leaves no caller waiting", () => {
  // Every line in the long run.
  const step = isFullRun ? 1 : 19;
  test.each(names)("%s", async (name) => {
    for (const [, scenes] of runsOf(name)) {
      for (let length = 1; length < scenes.length; length += step) {
        // The SDK's own messages go out before the end.
        const last = scenes[length];
        const cut = scenes.slice(0, last?.by === "sdk" ? length + 1 : length);
        const { left, turns, end } = await playScript(cut);
        expect(left).toEqual([]);
        expect(end.after).toMatch(/^(BackendGoneError)?$/);
        for (const { events, outcome } of turns) {
          const ends = events.filter(({ type }) => type === "end").length;
          expect(ends).toBe("result" in outcome ? 1 : 0);
        }
      }
    }
  });
});

function runsOf(name: string): readonly (readonly [Run, readonly Scene[]])[] {
  return readTrace(name).runs.map((run) => [run, scriptOf(run).scenes] as const);
}

const typeOf = ({ params }: Received): string => params?.notification?.type ?? "";

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Unknown fields, outside and inside. */
function withExtras(message: Received): Received {
  const { params } = message;
  const notification = params?.notification;
  if (notification === undefined || !("type" in notification)) return { ...message, later: true };
  // Raw details that the SDK passes on would differ.
  const isKnown = ["create_message", "tool_result", "droid_working_state_changed"].includes(notification.type);
  return {
    ...message,
    later: true,
    params: { ...params, notification: isKnown ? { ...notification, later: [1] } : notification },
  };
}

function without(played: PlayedRun, unwanted: TurnEvent): PlayedRun {
  const others = (events: readonly TurnEvent[]) => events.filter((event) => !isEqual(event, unwanted));
  const turns = played.turns.map((turn) => ({ ...turn, events: others(turn.events) }));
  return { ...played, events: others(played.events), turns };
}

const messagesOf = ({ events }: PlayedTurn): readonly string[] =>
  events.flatMap((event) => (event.type === "message" ? [event.message.id] : []));

/** A delta of a message that also comes whole. */
function isPieceOf(scene: Scene, messages: ReadonlySet<string>): boolean {
  const notification = scene.by === "server" ? scene.message.params?.notification : undefined;
  return notification?.type === "assistant_text_delta" && messages.has(String(notification.messageId));
}

/** Swaps the last message and idle of every turn where they are adjacent. */
function withEarlyIdle(scenes: readonly Scene[]): readonly Scene[] {
  const bent = [...scenes];
  for (const [at, scene] of scenes.entries()) {
    const before = scenes[at - 1];
    if (scene.by !== "server" || !isState(scene.message, "idle")) continue;
    if (before?.by !== "server" || messageOf(before.message).role !== "assistant") continue;
    bent[at - 1] = scene;
    bent[at] = before;
  }
  return bent;
}
