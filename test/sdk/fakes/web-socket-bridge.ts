import type { ChildProcess } from "node:child_process";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { createLineReader } from "../../../src/rpc/framing.ts";
import type { Bench } from "../../e2e/tinman.ts";

export interface BridgeOptions {
  /** The program for a socket at this path, with pipes; default: the built one, on stream-jsonrpc. */
  readonly start?: (path: string) => ChildProcess;
}

export interface WebSocketBridge {
  /** Ends with a slash. */
  readonly address: string;
  /** Process ids of all started programs, in order. */
  readonly pids: readonly number[];
  /** The open sockets. */
  readonly openCount: number;
  /** Closes every open socket at the path, as a server can. */
  closeSockets(code: number, reason: string, path?: string): void;
  /** Kills every program for the path. */
  killPrograms(signal: NodeJS.Signals, path?: string): void;
  /** Resolves when no socket, program or server is left. */
  close(): Promise<void>;
}

interface Served {
  readonly path: string;
  readonly socket: WebSocket;
  readonly child: ChildProcess;
}

const formats = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
/** How long a program has to exit after its socket closed. */
const patienceMs = 5_000;
/** The close code for a server's fault. */
const internalError = 1011;

/** A loopback server with one program per socket: one line is one message, in both directions. */
export async function bridgeWebSockets(
  bench: Bench,
  { start = () => bench.start(formats) }: BridgeOptions = {},
): Promise<WebSocketBridge> {
  const pids: number[] = [];
  const served = new Set<Served>();
  const ends = new Set<Promise<void>>();
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, maxPayload: 0, perMessageDeflate: false });
  const at = (path: string | undefined): readonly Served[] =>
    [...served].filter((each) => path === undefined || each.path === path);

  server.on("connection", (socket, { url = "/" }) => {
    const one: Served = { path: url, socket, child: start(url) };
    pids.push(one.child.pid ?? -1);
    served.add(one);
    const end = serve(one).finally(() => {
      served.delete(one);
      ends.delete(end);
    });
    ends.add(end);
  });
  await new Promise<void>((resolve, reject) => server.once("listening", resolve).once("error", reject));

  return {
    address: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    pids,
    get openCount() {
      return server.clients.size;
    },
    closeSockets(code, reason, path) {
      for (const { socket } of at(path)) socket.close(code, reason);
    },
    killPrograms(signal, path) {
      for (const { child } of at(path)) child.kill(signal);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const { socket } of served) socket.terminate();
      await Promise.all([closed, ...ends]);
    },
  };
}

/** Resolves when both the socket and the program are gone. */
async function serve({ socket, child }: Served): Promise<void> {
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("The program was started without pipes.");
  // An ended program is detected by its exit, a socket by its close.
  stdin.on("error", () => undefined);
  socket.on("error", () => undefined);
  stderr.resume();

  socket.on("message", (data) => {
    if (stdin.write(`${String(data)}\n`)) return;
    socket.pause();
    stdin.once("drain", () => socket.resume());
  });

  let timer: NodeJS.Timeout | undefined;
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      stdin.end();
      // A running turn would be finished first.
      child.kill("SIGTERM");
      timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
      resolve();
    });
  });
  const exited = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });

  await sendLines(stdout, socket);
  await exited;
  clearTimeout(timer);
  socket.resume();
  socket.close(internalError, `the program has ended (${child.signalCode ?? child.exitCode})`);
  await closed;
  clearTimeout(timer);
}

/** Reads no more from the program than the socket takes. */
async function sendLines(stdout: AsyncIterable<Uint8Array>, socket: WebSocket): Promise<void> {
  const reader = createLineReader();
  for await (const chunk of stdout) {
    for (const frame of reader.push(chunk)) {
      if (frame.type === "line") await new Promise<void>((sent) => socket.send(frame.text, () => sent()));
    }
  }
}
