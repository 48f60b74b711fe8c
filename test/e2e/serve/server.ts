import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { hashOf } from "../../../src/server/token-file.ts";
import { noteWarnings } from "../../warnings.ts";
import { type Bench, createBench } from "../tinman.ts";
import { connectTo, type WireClient } from "./wire-client.ts";

export interface ServerOptions {
  /** The scripted model's file; without it, the offline model answers. */
  readonly replies?: readonly object[];
  /** `config.yaml`. */
  readonly config?: object;
  readonly args?: readonly string[];
  /** No token is required unless this is set. */
  readonly auth?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** The built `tinman serve`, in its own home and folder. */
export interface Server {
  readonly bench: Bench;
  /** Address of `/ws`. */
  readonly url: string;
  /** The line it printed. */
  readonly said: string;
  readonly process: ChildProcess;
  /** This machine's own token; empty if none is required. */
  readonly token: string;
  /** The log so far. */
  readonly log: readonly Record<string, unknown>[];
  /** Resolves with the first matching log line, past or future. */
  logged(holds: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  connect(token?: string): Promise<WireClient>;
  get(path: string, headers?: Record<string, string>): Promise<{ readonly code: number; readonly text: string }>;
  /** A value of `/metrics`, with its labels as printed. */
  metric(name: string): Promise<number>;
  /** Ends it whatever it does, and removes its folders. */
  remove(): Promise<void>;
}

export const tokens = { ann: "token-of-ann", bob: "token-of-bob", vic: "token-of-vic" };
export const users = [
  { name: "ann", role: "user", tokens: [hashOf(tokens.ann)] },
  { name: "bob", role: "user", tokens: [hashOf(tokens.bob)] },
  { name: "vic", role: "viewer", tokens: [hashOf(tokens.vic)] },
];

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const { replies, config, args = [], auth = false, env = {} } = options;
  const bench = await createBench();
  const home = join(bench.home, ".tinman");
  await mkdir(home, { mode: 0o700 });
  if (config !== undefined) await writeFile(join(home, "config.yaml"), JSON.stringify(config));
  const model = replies === undefined ? "offline" : await bench.script(replies);
  const own = ["serve", "--port", "0", "-m", model, ...(auth ? [] : ["--no-auth"]), ...args];
  const process = bench.start(own, { env });
  const ended = once(process, "exit");
  const log: Record<string, unknown>[] = [];
  let wake = (): void => undefined;
  if (process.stdout === null || process.stderr === null) throw new Error("the server has no output");
  const errors = createInterface(process.stderr);
  errors.on("line", (line) => {
    noteWarnings(line);
    log.push(JSON.parse(line) as Record<string, unknown>);
    wake();
  });
  const remove = async (): Promise<void> => {
    process.kill("SIGKILL");
    await ended;
    await bench.remove();
  };
  const [said] = (await Promise.race([once(createInterface(process.stdout), "line"), ended])) as [unknown];
  const url = /ws:\S+/.exec(String(said))?.[0];
  if (url === undefined) {
    await remove();
    throw new Error(`the server did not start: ${said} ${JSON.stringify(log)}`);
  }
  const token = auth ? (await readFile(join(home, "serve-token"), "utf8")).trim() : "";
  const get: Server["get"] = async (path, headers = {}) => {
    const bearer = auth ? { Authorization: `Bearer ${token}` } : {};
    const asked = request(new URL(path, url.replace("ws:", "http:")), {
      headers: { ...bearer, ...headers },
      agent: false,
    });
    asked.end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return { code: response.statusCode ?? 0, text: await text(response) };
  };

  return {
    bench,
    url,
    said: String(said),
    process,
    token,
    log,
    get,
    remove,
    connect: (given = token) => connectTo(url, given === "" ? {} : { Authorization: `Bearer ${given}` }),
    async metric(name) {
      const line = (await get("/metrics")).text.split("\n").find((each) => each.startsWith(`tinman_${name} `));
      return Number(line?.split(" ").at(-1) ?? Number.NaN);
    },
    async logged(holds) {
      for (let at = 0; ; at += 1) {
        const line = log[at];
        if (line === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          at -= 1;
        } else if (holds(line)) return line;
      }
    },
  };
}
