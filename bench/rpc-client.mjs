import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/**
 * A client of `stream-jsonrpc` that looks at the clock. It parses no line of which it only has to know that it came, so
 * that it is never what the program waits for.
 *
 * @typedef {{ readonly name: string, readonly command: string, readonly args: readonly string[], readonly cwd: string, readonly env: NodeJS.ProcessEnv, readonly modelId: string }} Server
 * @typedef {{ readonly first: number, readonly whole: number, readonly deltas: number }} Turn Milliseconds from the prompt to the first piece of text and to the end; lines with text.
 * @typedef {{ readonly cpu: number, readonly rss: number }} Usage Microseconds and bytes of a process and those below it.
 * @typedef {Awaited<ReturnType<typeof startSession>>} Client
 */

const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };
const patience = 120_000;

/**
 * Starts the program and a session. `ready` is how many milliseconds passed from the start to the answer.
 * @param {Server} server
 */
export async function startSession(server) {
  const startedAt = performance.now();
  const child = spawn(server.command, server.args, { cwd: server.cwd, env: server.env, stdio: "pipe" });
  const exited = once(child, "exit");
  let stderr = "";
  let rest = "";
  let lastId = 0;
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
      if (line.includes('"assistant_text_delta"')) {
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
    const news = message.params?.notification;
    if (message.error !== undefined) fail(JSON.stringify(message.error));
    else if (news?.type === "error") fail(JSON.stringify(news));
    else if (wait?.isOver(message)) {
      const { resolve } = wait;
      wait = undefined;
      resolve(now);
    }
  };

  /**
   * Sends a request and resolves with the time of the message that ends the wait.
   * @param {string} method
   * @param {object} params
   * @param {(message: any, id: string) => boolean} isOver
   * @returns {Promise<number>}
   */
  const request = (method, params, isOver) => {
    const id = String(++lastId);
    const timer = setTimeout(() => fail(`no end of ${method} in ${patience / 1000} s.`), patience);
    /** @type {Promise<number>} */
    const ended = new Promise((resolve, reject) => {
      wait = { isOver: (message) => isOver(message, id), resolve, reject };
    });
    child.stdin.write(`${JSON.stringify({ ...versions, type: "request", id, method, params })}\n`);
    return ended.finally(() => clearTimeout(timer));
  };

  /** An empty session, in place of the one before. */
  const initialize = () =>
    request(
      "droid.initialize_session",
      { machineId: "bench", cwd: server.cwd, modelId: server.modelId, autonomyLevel: "off" },
      (message, id) => message.id === id,
    );

  const client = {
    ready: 0,
    initialize,
    /** @returns {Promise<Turn>} */
    async turn() {
      firstAt = undefined;
      deltas = 0;
      const askedAt = performance.now();
      // Some programs are idle once more before they begin.
      const isOver = (/** @type {any} */ { params }) =>
        params?.notification?.newState === "idle" && firstAt !== undefined;
      const endedAt = await request("droid.add_user_message", { text: "hi" }, isOver);
      return { first: (firstAt ?? Number.NaN) - askedAt, whole: endedAt - askedAt, deltas };
    },
    usage: () => usageOf(child.pid ?? 0),
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exited;
      clearTimeout(timer);
    },
  };
  try {
    client.ready = (await initialize()) - startedAt;
    return client;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/**
 * What a process and those that it started have used until now. Only Linux tells it of others finely enough; elsewhere
 * nothing is a number.
 * @param {number} pid
 * @returns {Usage}
 */
function usageOf(pid) {
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
