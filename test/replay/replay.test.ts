import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { Received } from "../fakes/rpc/wire.ts";
import type { Played } from "./player.ts";
import { play } from "./player.ts";
import { reasons } from "./reasons.ts";
import { readTrace, traceNames } from "./trace.ts";
import type { Verdict } from "./verdict.ts";
import { judge, report } from "./verdict.ts";

/*
 * Replays the traces' clients against us. Every deviation from `droid exec` needs one reason of a closed list. `npm run
 * golden` writes how often each is needed.
 */

const names = traceNames();
const atOnce = 3;
const played = new Map<string, Played | Error>();

beforeAll(async () => {
  const left = [...names];
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      played.set(name, await play(readTrace(name)).catch((error: unknown) => error as Error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}, 240_000);

function playedTrace(name: string): Played {
  const one = played.get(name);
  if (one === undefined || one instanceof Error) throw one ?? new Error(`${name} was not played.`);
  return one;
}

describe("every difference has one reason", () => {
  test.each(names)("%s", (name) => {
    const { faults } = judge(readTrace(name), playedTrace(name));
    expect(faults.join("\n\n")).toBe("");
  });
});

test("the differences are the known ones, and every reason is needed", async () => {
  const verdicts = new Map(names.map((name): [string, Verdict] => [name, judge(readTrace(name), playedTrace(name))]));
  const needed = new Set([...verdicts.values()].flatMap(({ counts }) => [...counts.keys()]));
  expect(reasons.map(({ name }) => name).filter((name) => !needed.has(name))).toEqual([]);
  const text = report(
    reasons.map(({ name }) => name),
    verdicts,
  );
  process.stdout.write(`${text.replaceAll(/\n {2}.*/g, "").replaceAll("\n\n", "\n")}\n`);
  const file = fileURLToPath(new URL("./differences.txt", import.meta.url));
  if (process.env.TINMAN_WRITE_GOLDEN === "1") await writeFile(file, text);
  expect(text).toBe(await readFile(file, "utf8"));
});

test("every reason is documented", async () => {
  const page = await readFile(new URL("../../docs/stream-jsonrpc.md", import.meta.url), "utf8");
  expect(reasons.filter(({ docs }) => !page.includes(docs)).map(({ name }) => name)).toEqual([]);
});

describe("detects planted faults:", () => {
  const name = "00_smoke";
  const verdictOn = (change: (lines: readonly Received[]) => readonly Received[]): Verdict => {
    const { runs, places } = playedTrace(name);
    return judge(readTrace(name), { places, runs: runs.map((run) => ({ ...run, received: change(run.received) })) });
  };
  const isNotice = ({ params }: Received, type: string): boolean => params?.notification?.type === type;
  const faultsAfter = (change: (lines: readonly Received[]) => readonly Received[]): string =>
    verdictOn(change).faults.join("\n");

  test("none without changes", () => {
    expect(faultsAfter((lines) => lines)).toBe("");
  });

  test("a missing result", () => {
    const faults = faultsAfter((lines) => lines.filter((line) => !isNotice(line, "tool_result")));
    expect(faults).toContain("missing tool_result");
  });

  test("a different text", () => {
    const faults = faultsAfter((lines) => lines.map((line) => changedText(line, "done now", "done then")));
    expect(faults).toContain("changed create_message assistant");
    expect(faults).toContain('ours: "done then"');
  });

  test("two messages in the wrong order", () => {
    const faults = faultsAfter((lines) => {
      const index = lines.findIndex((line) => isNotice(line, "permission_resolved"));
      return lines.with(index, lines[index + 2] as Received).with(index + 2, lines[index] as Received);
    });
    expect(faults).toContain("moved ");
  });

  test("a second response", () => {
    const faults = faultsAfter((lines) => lines.flatMap((line) => (line.id === "3" ? [line, line] : [line])));
    expect(faults).toContain("extra response");
  });

  test("an unknown notification", () => {
    const faults = faultsAfter((lines) =>
      lines.map((line) => renamed(line, "session_title_updated", "session_titled")),
    );
    expect(faults).toContain("extra session_titled");
    expect(faults).toContain("missing session_title_updated");
  });

  test("any other missing line", () => {
    const known = shown(verdictOn((lines) => lines));
    const [{ received } = { received: [] }] = playedTrace(name).runs;
    const unnoticed = received.filter((line) => {
      // Its frequency varies.
      if (isNotice(line, "tool_progress_update")) return false;
      return shown(verdictOn((lines) => lines.filter((one) => one !== line))) === known;
    });
    expect(unnoticed).toEqual([]);
  });

  /** A place in one of our lines, and its replacement. */
  const spoilt: readonly (readonly [trace: string, type: string, path: string, value: unknown, fault: string])[] = [
    [name, "agent_turn_completed", "reason", "cancelled", "the turn's end is "],
    ["07_int_streaming", "agent_turn_completed", "reason", "completed", "the turn's end is "],
    ["04_exec_cancel", "agent_turn_completed", "reason", "completed", "the turn's end is "],
    ["10_http_401", "agent_turn_completed", "reason", "completed", "the turn's end is "],
    [name, "agent_turn_completed", "turnId", "bogus", "the turn's end is "],
    [name, "agent_turn_completed", "tokenUsage.inputTokens", 0, "the turn's end is "],
    [name, "agent_turn_completed", "cumulativeTokenUsage.outputTokens", 0, "the turn's end is "],
    [name, "agent_turn_completed", "durationMs", -5, "duration is impossible"],
    [name, "session_token_usage_changed", "lastCallTokenUsage.outputTokens", 31, "the model counted other tokens"],
    [name, "assistant_text_complete", "blockIndex", 7, "the open block is "],
    ["11_reasoning", "thinking_text_complete", "durationMs", -1, "duration is impossible"],
    ["11_reasoning", "create_message", "message.content.0.signature", "garbage", "it has an unexpected signature"],
    ["11_reasoning", "create_message", "message.content.1.text", "other words", "the deltas of block 1 are "],
    ["10_stream_cut", "llm_retry", "attempt", 99, "the retry is "],
    ["10_http_401", "error", "message", "", "the error has no message"],
    ["10_http_401", "error", "timestamp", 1_794_729_906_277, "changed error"],
    ["07_int_tool", "tool_progress_update", "toolName", "Read", "the running tool is Execute"],
    [name, "create_message", "message.createdAt", 0, "changed create_message"],
    [name, "create_message", "message.updatedAt", "yesterday", "changed create_message"],
    [name, "create_message", "message.updatedAt", "2026-11-15T08:11:48.174Z", "changed create_message"],
  ];
  test.each(spoilt)("%s: %s with another %s (%j)", (trace, type, path, value, fault) => {
    const { runs, places } = playedTrace(trace);
    const change = (line: Received): Received =>
      isNotice(line, type) ? withValue(line, `params.notification.${path}`, value) : line;
    const changed = runs.map((run) => ({ ...run, received: run.received.map(change) }));
    expect(judge(readTrace(trace), { places, runs: changed }).faults.join("\n")).toContain(fault);
  });

  test("models that are not offered, and a different reason for a request", () => {
    const faults = faultsAfter((lines) =>
      lines.map((line) => {
        if (line.type === "request") return withValue(line, "params.toolUses.0.details.riskLevelReason", "wrong");
        return withValue(line, "result.availableModels", []);
      }),
    );
    expect(faults).toContain("these are not the models");
    expect(faults).toContain("the reason does not name the call");
  });

  const misplaced: readonly (readonly [type: string, steps: number, fault: string])[] = [
    ["agent_turn_completed", 1, "idle without the end of the turn"],
    ["session_token_usage_changed", 2, "tokens are reported outside a turn"],
    ["mcp_status_changed", 1, "it is not followed by the response"],
    ["assistant_text_complete", 1, "has no completion"],
  ];
  test.each(misplaced)("%s, %i too late", (type, steps, fault) => {
    const faults = faultsAfter((lines) => {
      const index = lines.findLastIndex((line) => isNotice(line, type));
      return lines.toSpliced(index, 1).toSpliced(index + steps, 0, lines[index] as Received);
    });
    expect(faults).toContain(fault);
  });

  test("a wrong end", () => {
    const { runs, places } = playedTrace(name);
    const killed = runs.map((run) => ({ ...run, end: { code: null, signal: "SIGSEGV" } }));
    expect(judge(readTrace(name), { places, runs: killed }).faults.join("\n")).toContain("end of the process");
  });
});

const shown = ({ counts, faults }: Verdict): string => JSON.stringify([[...counts], faults]);

function changedText(line: Received, before: string, after: string): Received {
  return JSON.parse(JSON.stringify(line).replaceAll(`"text":"${before}"`, `"text":"${after}"`)) as Received;
}

function renamed(line: Received, before: string, after: string): Received {
  return JSON.parse(JSON.stringify(line).replaceAll(`"type":"${before}"`, `"type":"${after}"`)) as Received;
}

/** The same line with this value at an existing path; a line without the path stays unchanged. */
function withValue(line: Received, path: string, value: unknown): Received {
  const copy = structuredClone(line);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let owner: unknown = copy;
  for (const key of keys) owner = (owner as Record<string, unknown> | undefined)?.[key];
  if (typeof owner === "object" && owner !== null && last in owner) (owner as Record<string, unknown>)[last] = value;
  return copy;
}
