import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import type { Payload, PermissionRequest, SdkClient, SdkTurn } from "../../fakes/rpc/sdk-connection.ts";
import { openHighClient } from "../../fakes/rpc/sdk-high.ts";
import { openLowClient } from "../../fakes/rpc/sdk-low.ts";
import { orderFaults, unanswered } from "../../fakes/rpc/sdk-order.ts";
import { checkAll } from "../../fakes/rpc/sdk-strict.ts";
import type { Notice, Wire } from "../../fakes/rpc/wire.ts";
import { noticesIn } from "../../fakes/rpc/wire.ts";
import { type Bench, createBench } from "../tinman.ts";

const openers = { low: openLowClient, high: openHighClient };

export interface Stage {
  readonly bench: Bench;
  /** One program for all tests; each test opens its own session in it. */
  readonly client: SdkClient;
  /** A separate program in the same home. The test closes it. */
  fresh(): SdkClient;
  /** A session on a scripted model. */
  scripted(replies: readonly object[], params?: Payload, more?: object): Promise<Payload>;
}

/** Runs the tests with a client of each level. Checks everything that the program sends after each test. */
export function atBothLevels(tests: (stage: Stage) => void): void {
  describe.each(["low", "high"] as const)("a client of the %s level", (level) => {
    let bench: Bench;
    let client: SdkClient;
    let told = 0;
    let place = 0;
    const others: SdkClient[] = [];
    const open = (): SdkClient => openers[level](bench, { cwd: bench.cwd });

    beforeAll(async () => {
      bench = await createBench();
      client = open();
    });
    beforeEach(() => {
      client.handlers.permission = undefined;
      client.handlers.question = undefined;
    });
    afterEach(async () => {
      const { received, sent } = client.wire;
      const order = orderFaults(received, sent);
      const faults = [...checkAll(received.slice(place), sent), ...order.slice(told)];
      place = received.length;
      told = order.length;
      const rest = others.splice(0).flatMap(({ wire }) => {
        // Gone already, unless its test has failed.
        wire.kill("SIGKILL");
        return faultsOn(wire);
      });
      expect([...faults, ...rest]).toEqual([]);
    });
    afterAll(async () => {
      const { stderr } = await client.close().finally(() => bench.remove());
      expect(stderr.replace(/^tinman: .* Trying again in .*\n/gm, "")).toBe("");
      expect(unanswered(client.wire.received, client.wire.sent)).toEqual([]);
    });

    tests({
      get bench() {
        return bench;
      },
      get client() {
        return client;
      },
      fresh: () => {
        const other = open();
        others.push(other);
        return other;
      },
      scripted: async (replies, params = {}, more) =>
        client.open({ modelId: await bench.script(replies, more), ...params }),
    });
  });
}

export function faultsOn({ received, sent }: Wire): readonly string[] {
  return [...checkAll(received, sent), ...orderFaults(received, sent)];
}

/** The notifications of one type. */
export function ofType(turn: Pick<SdkTurn, "notices">, type: string): readonly Notice[] {
  return turn.notices.filter((notice) => notice.type === type);
}

export function states(turn: SdkTurn): readonly unknown[] {
  return ofType(turn, "droid_working_state_changed").map(({ newState }) => newState);
}

/** Why the turn ended. */
export function reasonOf(turn: SdkTurn): unknown {
  return ofType(turn, "agent_turn_completed").at(-1)?.reason;
}

export function results(turn: SdkTurn): readonly { content: unknown; isError: unknown }[] {
  return ofType(turn, "tool_result").map(({ content, isError }) => ({ content, isError }));
}

/** Notifications from a position on. */
export function since(wire: Wire, from: number): readonly Notice[] {
  return noticesIn(wire.received.slice(from));
}

/** A handler that always gives the same answer, and its requests. */
export function always(answer: string): { asked: PermissionRequest[]; permission(request: PermissionRequest): string } {
  const asked: PermissionRequest[] = [];
  return {
    asked,
    permission: (request) => {
      asked.push(request);
      return answer;
    },
  };
}

export const run = (command: string, riskLevel = "medium"): object => ({
  tool_calls: [{ name: "Execute", input: { command, riskLevel } }],
});

/** The five counters. */
export const usage = (
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number,
  thinkingTokens: number,
): Payload => ({
  inputTokens,
  outputTokens,
  cacheCreationTokens: 0,
  cacheReadTokens,
  thinkingTokens,
});
