import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, createBench, type Finished, finished, lines, madeUp } from "../../e2e/tinman.ts";
import { isAlive, until } from "../../sdk/fakes/stand-ins.ts";

/*
 * acpx is a third-party ACP client for the command line. Its sessions live in a process (the owner) that holds `tinman
 * acp` and takes prompts from later commands. `TINMAN_TEST_ACPX` names its folder; `.ci/run` installs it.
 */

const acpx = join(process.env.TINMAN_TEST_ACPX ?? "", "dist", "cli.js");

let bench: Bench;
let started: ChildProcess[] = [];

beforeAll(async () => {
  bench = await createBench();
  await mkdir(join(bench.root, "tmp"));
  const { code, stderr } = await run("sessions", "new");
  expect({ code, stderr }).toMatchObject({ code: 0 });
});

afterAll(async () => {
  const pids = [...owners(), ...agents()];
  await run("sessions", "close");
  await until(() => !pids.some(isAlive));
  for (const child of started) child.kill();
  await bench.remove();
});

function start(...args: readonly string[]): ChildProcess {
  const agent = ["--agent", "tinman acp", "--format", "json", "--json-strict"];
  const child = spawn(process.execPath, [acpx, ...agent, ...args], {
    cwd: bench.cwd,
    env: { ...bench.env, TMPDIR: join(bench.root, "tmp") },
  });
  started.push(child);
  child.on("close", () => {
    started = started.filter((each) => each !== child);
  });
  return child;
}

const run = (...args: readonly string[]): Promise<Finished> => finished(start(...args));

interface Message {
  readonly method?: string;
  readonly params?: {
    readonly update?: { readonly sessionUpdate: string; readonly content?: { readonly text: string } };
  };
  readonly result?: Readonly<Record<string, unknown>>;
}

/** The relevant part of the traffic in between. */
function told({ code, stdout }: Finished) {
  const messages: readonly Message[] = lines(stdout);
  const updates = messages.flatMap(({ params }) => params?.update ?? []);
  const texts = updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
  return {
    code,
    asked: messages.filter(({ method }) => method === "session/request_permission").length,
    text: texts.map(({ content }) => content?.text).join(""),
    stopReason: messages.flatMap(({ result }) => result?.stopReason ?? []).at(-1),
  };
}

/** The processes that hold a session, according to acpx's own records. */
function owners(): readonly number[] {
  const folder = join(bench.home, ".acpx", "queues");
  const notes = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".lock")) : [];
  return notes.map((name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as { pid: number }).pid);
}

/** The programs that they started. */
function agents(): readonly number[] {
  const folder = join(bench.home, ".acpx", "sessions");
  const notes = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return notes.flatMap((name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as { pid?: number }).pid ?? []);
}

describe("acpx", { timeout: 60_000 }, () => {
  it("prompts, and approves", async () => {
    const once = await run("--approve-all", "exec", "create file yes.txt with hello");
    expect(told(once)).toEqual({
      code: 0,
      asked: 1,
      text: "I'll create yes.txt.I created yes.txt.",
      stopReason: "end_turn",
    });
    expect(await bench.read("yes.txt")).toBe("hello");
  });

  it("denies", async () => {
    const once = await run("--deny-all", "exec", "create file no.txt with hello");
    // Its exit code for a prompt whose permissions were all denied.
    expect(told(once)).toEqual({ code: 5, asked: 1, text: "I'll create no.txt.", stopReason: "end_turn" });
    expect(existsSync(join(bench.cwd, "no.txt"))).toBe(false);
  });

  it("resumes a session in another process", async () => {
    const word = madeUp().toUpperCase();
    const first = await run("prompt", `The password is ${word}. Just reply OK.`);
    expect(told(first)).toEqual({ code: 0, asked: 0, text: "OK", stopReason: "end_turn" });
    const [before, agentBefore] = [owners(), agents()];
    expect([before.length, agentBefore.length]).toEqual([1, 1]);
    for (const pid of before) process.kill(pid);
    await until(() => ![...before, ...agentBefore].some(isAlive));

    const second = await run("prompt", "What password did I tell you? Reply ONLY the password.");
    expect(told(second)).toEqual({ code: 0, asked: 0, text: word, stopReason: "end_turn" });
    expect(second.stdout).toContain('"method":"session/resume"');
  });

  it("sets the mode", async () => {
    const wrong = await run("set-mode", "nowhere");
    expect([wrong.code, wrong.stdout]).toEqual([
      1,
      expect.stringContaining("Available: off, low, medium, high, spec."),
    ]);
    expect((await run("set-mode", "low")).code).toBe(0);
    const low = await run("--deny-all", "prompt", "create file low.txt with hello");
    expect(told(low)).toMatchObject({ asked: 0, stopReason: "end_turn" });
    expect(await bench.read("low.txt")).toBe("hello");
    expect((await run("set-mode", "off")).code).toBe(0);
  });

  it("cancels", async () => {
    const command = start("--approve-all", "prompt", "run `echo $$ > pid.txt; exec sleep 60`");
    const cancelled = finished(command);
    const note = join(bench.cwd, "pid.txt");
    await until(() => existsSync(note) && readFileSync(note, "utf8").endsWith("\n"));
    const pid = Number(readFileSync(note, "utf8"));
    expect(isAlive(pid)).toBe(true);
    expect((await run("cancel")).code).toBe(0);
    expect(told(await cancelled)).toMatchObject({ asked: 1, stopReason: "cancelled" });
    expect(isAlive(pid)).toBe(false);
    const after = await run("prompt", "Just reply OK.");
    expect(told(after)).toEqual({ code: 0, asked: 0, text: "OK", stopReason: "end_turn" });
  });
});
