import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { Received } from "../fakes/rpc/wire.ts";
import { progressFaults } from "./compare.ts";
import type { Played } from "./player.ts";
import { play } from "./player.ts";
import { reasons } from "./reasons.ts";
import { readTrace, traceNames } from "./trace.ts";
import type { Verdict } from "./verdict.ts";
import { judge, report } from "./verdict.ts";

/*
 * The clients of the traces play again, now with us. Wherever we say something else than `droid exec` did, one reason of a
 * closed list must say why. `npm run golden` writes how often each is needed.
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
    expect(playedTrace(name).runs.flatMap(({ received }) => progressFaults(received))).toEqual([]);
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

test("every reason can be read in the documentation", async () => {
  const page = await readFile(new URL("../../docs/stream-jsonrpc.md", import.meta.url), "utf8");
  expect(reasons.filter(({ docs }) => !page.includes(docs)).map(({ name }) => name)).toEqual([]);
});

describe("a fault of ours is noticed", () => {
  const name = "00_smoke";
  const verdictOn = (change: (lines: readonly Received[]) => readonly Received[]): Verdict => {
    const { runs, places } = playedTrace(name);
    return judge(readTrace(name), { places, runs: runs.map((run) => ({ ...run, received: change(run.received) })) });
  };
  const isNotice = ({ params }: Received, type: string): boolean => params?.notification?.type === type;
  const faultsAfter = (change: (lines: readonly Received[]) => readonly Received[]): string =>
    verdictOn(change).faults.join("\n");

  test("as long as nothing is changed, there is none", () => {
    expect(faultsAfter((lines) => lines)).toBe("");
  });

  test("a result that does not come", () => {
    const faults = faultsAfter((lines) => lines.filter((line) => !isNotice(line, "tool_result")));
    expect(faults).toContain("missing tool_result");
  });

  test("another text", () => {
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

  test("a second answer", () => {
    const faults = faultsAfter((lines) => lines.flatMap((line) => (line.id === "3" ? [line, line] : [line])));
    expect(faults).toContain("extra response");
  });

  test("a notification that nobody knows", () => {
    const faults = faultsAfter((lines) =>
      lines.map((line) => renamed(line, "session_title_updated", "session_titled")),
    );
    expect(faults).toContain("extra session_titled");
    expect(faults).toContain("missing session_title_updated");
  });

  test("whatever else is left out", () => {
    const known = shown(verdictOn((lines) => lines));
    const [{ received } = { received: [] }] = playedTrace(name).runs;
    const unnoticed = received.filter((line) => {
      // How often it comes is a matter of time.
      if (isNotice(line, "tool_progress_update")) return false;
      return shown(verdictOn((lines) => lines.filter((one) => one !== line))) === known;
    });
    expect(unnoticed).toEqual([]);
  });

  test("an end that is none", () => {
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
