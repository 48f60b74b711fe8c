import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server as HttpServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { HttpRequest, Timeouts } from "../../src/net/http/http-request.ts";
import { type HttpResponse, request } from "../../src/net/http/request.ts";
import { createNetwork, type Network, type NetworkOptions } from "../../src/net/network.ts";
import { NetworkError } from "../../src/net/network-error.ts";

/** Long enough for a busy machine: reaching one of these is a failure. */
export const patient: Timeouts = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 };

export const fixture = (name: string): string => join(import.meta.dirname, "fixtures", name);

export interface TestServer {
  readonly port: number;
  /** All connections accepted so far. */
  readonly connections: Socket[];
}

async function listen(server: Server | HttpServer): Promise<TestServer> {
  const connections: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => {});
    connections.push(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of connections) socket.destroy();
    server.close();
    if (server.listening) await once(server, "close");
  });
  return { port: (server.address() as AddressInfo).port, connections };
}

export const httpServer = (answer: RequestListener): Promise<TestServer> =>
  listen(createServer({ keepAliveTimeout: 0 }, answer));

export function httpsServer(certificate: string, answer: RequestListener): Promise<TestServer> {
  const pem = readFileSync(fixture(certificate));
  const server = createSecureServer({ key: pem, cert: pem, keepAliveTimeout: 0 }, answer);
  server.on("tlsClientError", () => {});
  return listen(server);
}

/** A TCP server whose bytes the test controls. */
export const rawServer = (serve: (socket: Socket, nth: number) => void): Promise<TestServer> => {
  let count = 0;
  return listen(
    createRawServer((socket) => {
      count += 1;
      serve(socket, count);
    }),
  );
};

/** A raw server that answers each connection's first bytes with this text, then closes it. */
export const cannedServer = (text: string): Promise<TestServer> =>
  rawServer((socket) => socket.once("data", () => socket.end(text, "latin1")));

/** A port without a listener. */
export async function closedPort(): Promise<number> {
  const server = createRawServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export function testNetwork(env: Record<string, string> = {}, options: NetworkOptions = {}): Network {
  const network = createNetwork(env, options);
  onTestFinished(() => network.close());
  return network;
}

export function ask(url: string, network: Network, changes: Partial<HttpRequest> = {}): Promise<HttpResponse> {
  return request({ url: new URL(url), method: "GET", headers: {}, timeouts: patient, network, ...changes });
}

export async function textOf(response: Pick<HttpResponse, "body">): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

export interface Seen {
  readonly name: string;
  readonly kind: string;
  readonly message: string;
}

/** The `NetworkError` of a failed request. Success or any other error fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<Seen> {
  const error = await work.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  if (!(error instanceof NetworkError)) throw error;
  if (error.cause !== undefined) throw new Error("It carries a cause.");
  return { name: error.name, kind: error.kind, message: error.message };
}

/** Polls for up to ten seconds. */
export async function eventually(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (holds()) return true;
    await sleep(10);
  }
  return false;
}

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tinman-net-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
