import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { eventually, longNap, processesOfGroup, processesWith, runCommand, saying } from "../support.ts";

/** Ways in which a command can leave something behind, each with one or more naps. */
const leftovers: Readonly<Record<string, (nap: string) => string>> = {
  "in the background": (nap) => `sleep ${nap} & echo started`,
  "in the background with its output elsewhere": (nap) => `sleep ${nap} >/dev/null 2>&1 & echo started`,
  "deaf to SIGTERM": (nap) => `bash -c 'trap "" TERM HUP; sleep ${nap}; sleep ${nap}' & echo started; sleep 0.2`,
  "under nohup and disowned": (nap) => `nohup sleep ${nap} & disown; echo started`,
  "in its own session": (nap) => `setsid sleep ${nap} & echo started`,
  "in its own session, ignoring SIGTERM": (nap) =>
    `setsid bash -c 'trap "" TERM; sleep ${nap}; sleep ${nap}' >/dev/null 2>&1 & echo started; sleep 0.2`,
  "forked twice": (nap) => `(setsid bash -c 'sleep ${nap} & sleep ${nap} & disown -a' >/dev/null 2>&1 &); echo started`,
  "in the group, with an empty environment": (nap) => `env -i sleep ${nap} & echo started`,
  "many of them": (nap) => `for i in {1..20}; do setsid sleep ${nap} & sleep ${nap} & done; echo started`,
};

/** Reports that it is ready, and cleans up for a while when asked to end. */
const tidy = `node -e '
  process.once("SIGTERM", () => setTimeout(() => { console.log("tidied"); process.exit(); }, 200));
  console.log("ready");
  setInterval(() => {}, 1000);
'`;

describe("after a command that exits, nothing is left", () => {
  test.each(Object.entries(leftovers))("of a process %s", async (_, make) => {
    const nap = longNap();
    const result = await runCommand(make(nap));
    expect(result).toEqual(saying("started\n"));
    expect(processesWith(nap)).toEqual([]);
  });

  test("of the watchdog and the group", async () => {
    const result = await runCommand("echo $$");
    expect(processesOfGroup(Number(result.head))).toEqual([]);
  });
});

describe("at the time limit", () => {
  test("the command and everything it started are ended", async () => {
    const nap = longNap();
    const command = `echo begun; setsid sleep ${nap} & sleep ${nap} & (sleep ${nap}; echo never)`;
    expect(await runCommand(command, { timeoutMs: 300 })).toEqual(saying("begun\n", { type: "timeout" }));
    expect(processesWith(nap)).toEqual([]);
  });

  test("processes can clean up when asked to end", async () => {
    expect(await runCommand(tidy, { timeoutMs: 1000 })).toEqual(saying("ready\ntidied\n", { type: "timeout" }));
  });

  test("a process outside the group is also asked to end", async () => {
    expect(await runCommand(`setsid ${tidy}; sleep 9`, { timeoutMs: 1000 })).toEqual(
      saying("ready\ntidied\n", { type: "timeout" }),
    );
  });

  test("unresponsive ones are killed", async () => {
    const nap = longNap();
    const command = `trap "" TERM INT HUP; echo deaf; setsid sleep ${nap} & sleep ${nap}; sleep ${nap}; sleep ${nap}`;
    expect(await runCommand(command, { timeoutMs: 300 })).toEqual(saying("deaf\n", { type: "timeout" }));
    expect(processesWith(nap)).toEqual([]);
  });

  test("a stopped process is ended as well", async () => {
    const nap = longNap();
    const result = await runCommand(`sleep ${nap} & kill -STOP $!; echo stopped; wait`, { timeoutMs: 300 });
    expect(result).toEqual(saying("stopped\n", { type: "timeout" }));
    expect(processesWith(nap)).toEqual([]);
  });

  test("a command that keeps forking is ended", async () => {
    const nap = longNap();
    const command = `while :; do setsid sleep ${nap} & sleep 0.01; done`;
    expect((await runCommand(command, { timeoutMs: 400 })).end).toEqual({ type: "timeout" });
    expect(processesWith(nap)).toEqual([]);
  });
});

describe("an abort", () => {
  test("ends the command and everything it started, and keeps its output", async () => {
    const nap = longNap();
    const abort = new AbortController();
    const onProgress = () => abort.abort();
    const result = await runCommand(`echo begun; setsid sleep ${nap} & sleep ${nap}`, {
      signal: abort.signal,
      onProgress,
    });
    expect(result).toEqual(saying("begun\n", { type: "aborted" }));
    expect(processesWith(nap)).toEqual([]);
  });

  test("before the start starts nothing", async () => {
    expect(await runCommand("echo hi", { signal: AbortSignal.abort() })).toEqual(saying("", { type: "aborted" }));
  });

  test("at any moment of the start leaves nothing behind", async () => {
    const nap = longNap();
    for (let delay = 0; delay < 12; delay += 1) {
      const abort = new AbortController();
      const running = runCommand(`setsid sleep ${nap} & sleep ${nap}`, { signal: abort.signal });
      await sleep(delay);
      abort.abort();
      expect((await running).end).toEqual({ type: "aborted" });
    }
    expect(processesWith(nap)).toEqual([]);
  });
});

describe("the watchdog", () => {
  test("survives signals that a command sends to its own group", async () => {
    const command = `trap "" TERM INT HUP; kill -TERM 0; kill -INT 0; kill -HUP 0; ps -o args= -s $$ | grep -c "^/bin/sh.*watchdog"`;
    // The watchdog's text has many lines for grep; only the first counts.
    expect((await runCommand(command)).head).toBe("1\n");
  });

  test("killed by the command changes nothing for the run", async () => {
    const nap = longNap();
    const command = `pkill -KILL -s $$ -f 'tinman-watchdo[g]'; setsid sleep ${nap} & sleep ${nap} & echo done`;
    expect(await runCommand(command)).toEqual(saying("done\n"));
    expect(processesWith(nap)).toEqual([]);
  });

  test("does not contain the command's own words for searches", async () => {
    const word = `word-${longNap()}`;
    expect(await runCommand(`pgrep -f -c "${word}"`)).toEqual(saying("0\n", { type: "exit", code: 1 }));
  });
});

test("parallel runs do not touch each other's processes", async () => {
  const nap = longNap();
  const abort = new AbortController();
  const long = runCommand(`setsid sleep ${nap} & sleep ${nap}`, { signal: abort.signal });
  expect(await eventually(() => processesWith(nap).length === 2)).toBe(true);
  await Promise.all(Array.from({ length: 5 }, () => runCommand("setsid sleep 100 & echo short")));
  expect(processesWith(nap).length).toBe(2);
  abort.abort();
  await long;
  expect(processesWith(nap)).toEqual([]);
});
