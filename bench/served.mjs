import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { usageOf } from "./line-client.mjs";

/**
 * `tinman serve` and the floor, each in a separate process.
 *
 * @typedef {{ readonly address: import("./serve-client.mjs").Address, usage(): import("./line-client.mjs").Usage, sockets(): number }} Served
 * @typedef {Served & { health(): Promise<number>, metric(name: string): Promise<number>, heap(): Promise<number>, warnings(): readonly string[] }} Tinman
 */

const config = `serve:
  limits: { connections: 10000, connectionsPerUser: 10000 }
interactive:
  limits: { queuedMessages: 1000, sessionsPerMinute: 100000000, messagesPerMinute: 100000000 }
`;

/**
 * Runs the work with a new server in a new home.
 * @template T
 * @param {{ readonly folder: string, readonly program: string, readonly model: string, readonly isInspected?: boolean, readonly nodeArgs?: readonly string[] }} options
 * @param {(server: Tinman) => Promise<T>} work
 */
export async function withTinman({ folder, program, model, isInspected = false, nodeArgs = [] }, work) {
  const home = join(folder, `home-${++homes}`);
  const cwd = join(folder, "workspace");
  for (const each of [home, cwd]) mkdirSync(each, { recursive: true });
  writeFileSync(join(home, "config.yaml"), config);
  const env = { PATH: process.env.PATH, HOME: home, TINMAN_HOME: home };
  const args = ["serve", "--port", "0", "--log-level", "error", "--cwd", cwd, "-m", model];
  // The server lets no signal open the debugger, which this needs to measure the heap.
  const inspected = isInspected ? ["--inspect=127.0.0.1:0"] : [];
  const child = spawn(process.execPath, [...inspected, ...nodeArgs, program, ...args], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const ended = once(child, "exit");
  const stop = () => child.kill("SIGTERM");
  process.once("exit", stop);
  try {
    const line = await Promise.race([
      once(createInterface({ input: child.stdout }), "line").then(([text]) => String(text)),
      ended.then(() => Promise.reject(new Error(`tinman serve ended: ${stderr}`))),
    ]);
    const port = Number(/:(\d+)\/ws$/.exec(line)?.[1]);
    const token = readFileSync(join(home, "serve-token"), "utf8").trim();
    const pid = child.pid ?? 0;
    const fetch = async (/** @type {string} */ path) => {
      // Closes its connection, which would otherwise be counted.
      const headers = { authorization: `Bearer ${token}` };
      const [answer] = await once(get(`http://127.0.0.1:${port}${path}`, { agent: false, headers }), "response");
      return { status: answer.statusCode, text: (await answer.setEncoding("utf8").toArray()).join("") };
    };
    return await work({
      address: { url: `ws://127.0.0.1:${port}/ws`, token },
      usage: () => usageOf(pid),
      sockets: () => socketsOf(pid),
      async health() {
        const askedAt = performance.now();
        const { status, text } = await fetch("/healthz");
        if (status !== 200) throw new Error(`/healthz: ${status} ${text}`);
        return performance.now() - askedAt;
      },
      async metric(name) {
        const { text } = await fetch("/metrics");
        return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1] ?? 0);
      },
      warnings: () => stderr.split("\n").filter((line) => /warning/i.test(line)),
      async heap() {
        for (;;) {
          const found = /Debugger listening on (\S+)/.exec(stderr)?.[1];
          if (found !== undefined) return liveHeap(found);
          await once(child.stderr, "data");
        }
      },
    });
  } finally {
    process.removeListener("exit", stop);
    stop();
    await ended;
    const said = stderr.split("\n").filter((line) => line.startsWith("{"));
    if (said.length > 0) process.stderr.write(`tinman serve said: ${said.slice(0, 5).join("\n")}\n`);
  }
}

let homes = 0;

/**
 * @template T
 * @param {(server: Served) => Promise<T>} work
 */
export async function withFloor(work) {
  const child = spawn(process.execPath, [fileURLToPath(new URL("ws-floor.mjs", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const [port] = await once(createInterface({ input: child.stdout }), "line");
    const pid = child.pid ?? 0;
    return await work({
      address: { url: `ws://127.0.0.1:${port}/` },
      usage: () => usageOf(pid),
      sockets: () => socketsOf(pid),
    });
  } finally {
    child.stdin.end();
    await ended;
  }
}

/** @param {number} pid */
function socketsOf(pid) {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).filter((name) => linkOf(join(folder, name)).startsWith("socket:")).length;
  } catch {
    return Number.NaN;
  }
}

/** @param {string} path */
function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    // Already closed.
    return "";
  }
}

/**
 * Bytes in use on a process's heap after a garbage collection.
 * @param {string} url of its debugger
 */
async function liveHeap(url) {
  const socket = new WebSocket(url);
  await once(socket, "open");
  let id = 0;
  const ask = async (/** @type {string} */ method) => {
    socket.send(JSON.stringify({ id: ++id, method }));
    for (;;) {
      const [data] = await once(socket, "message");
      const answer = JSON.parse(String(data));
      if (answer.id === id) return answer.result;
    }
  };
  try {
    await ask("HeapProfiler.collectGarbage");
    return /** @type {number} */ ((await ask("Runtime.getHeapUsage")).usedSize);
  } finally {
    socket.close();
    await once(socket, "close");
  }
}
