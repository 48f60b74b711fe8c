import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/**
 * The timing half of a client, for any protocol of JSON lines. It parses lines only if needed, so that the measured
 * program never waits for it.
 *
 * @typedef {{ readonly name: string, readonly command: string, readonly args: readonly string[], readonly cwd: string, readonly env: NodeJS.ProcessEnv, readonly modelId: string }} Server
 * @typedef {{ readonly first: number, readonly whole: number, readonly deltas: number }} Turn Milliseconds from the prompt to the first piece of text and to the end; lines with text.
 * @typedef {{ readonly cpu: number, readonly rss: number }} Usage Microseconds and bytes of a process and those below it.
 * @typedef {ReturnType<typeof startLines>} LineClient
 */

const patience = 120_000;

/**
 * @param {Server} server
 * @param {string} piece a substring of every line with a piece of text
 * @param {(message: any) => unknown} failureOf the fatal error in a message, or undefined
 */
export function startLines(server, piece, failureOf) {
  const startedAt = performance.now();
  const child = spawn(server.command, server.args, { cwd: server.cwd, env: server.env, stdio: "pipe" });
  const exited = once(child, "exit");
  let stderr = "";
  let rest = "";
  let deltas = 0;
  /** @type {number | undefined} */
  let firstAt;
  /** @type {{ isOver(message: any): boolean, resolve(at: number): void, reject(error: Error): void } | undefined} */
  let wait;

  /** @param {string} why */
  const fail = (why) => {
    wait?.reject(new Error(`${server.name}: ${why} ${stderr}`));
    wait = undefined;
  };
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => fail(`it ended with ${code ?? signal}.`));
  child.stdin.on("error", (error) => fail(error.message));
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const now = performance.now();
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.includes(piece)) {
        firstAt ??= now;
        deltas += 1;
      } else if (line !== "") hear(JSON.parse(line), now);
    }
  });

  /**
   * @param {any} message
   * @param {number} now
   */
  const hear = (message, now) => {
    const failure = failureOf(message);
    if (failure) fail(JSON.stringify(failure));
    else if (wait?.isOver(message)) {
      const { resolve } = wait;
      wait = undefined;
      resolve(now);
    }
  };

  /**
   * Sends a message and resolves with the time of the one that completes it.
   * @param {object} message
   * @param {(message: any) => boolean} isOver
   * @returns {Promise<number>}
   */
  const ask = (message, isOver) => {
    const timer = setTimeout(() => fail(`no end of ${JSON.stringify(message)} in ${patience / 1000} s.`), patience);
    /** @type {Promise<number>} */
    const ended = new Promise((resolve, reject) => {
      wait = { isOver, resolve, reject };
    });
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return ended.finally(() => clearTimeout(timer));
  };

  return {
    startedAt,
    ask,
    /** Whether a piece has arrived since the turn began. */
    hasPiece: () => firstAt !== undefined,
    /**
     * @param {() => Promise<number>} prompt
     * @returns {Promise<Turn>}
     */
    async turn(prompt) {
      firstAt = undefined;
      deltas = 0;
      const askedAt = performance.now();
      const endedAt = await prompt();
      return { first: (firstAt ?? Number.NaN) - askedAt, whole: endedAt - askedAt, deltas };
    },
    usage: () => usageOf(child.pid ?? 0),
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exited;
      clearTimeout(timer);
    },
    kill: () => child.kill("SIGKILL"),
  };
}

/**
 * Resources used so far by a process and its children. Only Linux reports them precisely enough; elsewhere every value
 * is NaN.
 * @param {number} pid
 * @returns {Usage}
 */
export function usageOf(pid) {
  const folder = `/proc/${pid}`;
  try {
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/status`, "utf8"));
    const threads = readdirSync(`${folder}/task`).map((thread) => `${folder}/task/${thread}`);
    const cpu = threads.map((thread) => Number(readFileSync(`${thread}/schedstat`, "utf8").split(" ")[0]) / 1000);
    const children = threads.flatMap((thread) => readFileSync(`${thread}/children`, "utf8").match(/\d+/g) ?? []);
    const below = children.map((child) => usageOf(Number(child))).filter((used) => !Number.isNaN(used.cpu));
    return {
      cpu: sum([...cpu, ...below.map((used) => used.cpu)]),
      rss: sum([Number(resident?.[1]) * 1024, ...below.map((used) => used.rss)]),
    };
  } catch {
    return { cpu: Number.NaN, rss: Number.NaN };
  }
}

/** @param {readonly number[]} values */
export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
