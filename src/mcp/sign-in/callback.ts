import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorCode } from "../../text/system-errors.ts";
import { errorMessage } from "../../text/values.ts";
import { SignInFault } from "./faults.ts";
import type { SignInAnswer, SignInEnd } from "./server.ts";

const path = "/callback";
const host = "127.0.0.1";
const patienceMs = 10_000;

export interface Callback {
  readonly uri: string;
  /** Frees the port. An answer that is being sent is completed. */
  close(): void;
}

export interface CallbackOptions {
  /** Rejects if it is taken. */
  readonly port?: number | undefined;
  /** Preferred, but another is as good. */
  readonly lastPort?: number | undefined;
  /** `undefined`: no sign-in with this state is waiting, and another answer can come. */
  take(state: string, answer: SignInAnswer): Promise<SignInEnd> | undefined;
}

/** Waits on this machine for the browser to return. It does not keep the process alive. */
export async function openCallback({ port, lastPort, take }: CallbackOptions): Promise<Callback> {
  let address = "";
  let answering = 0;
  const server = createServer({ maxHeaderSize: 32_768, headersTimeout: patienceMs, requestTimeout: patienceMs });
  server.maxConnections = 16;
  server.on("connection", (socket) => void socket.unref());
  server.on("request", (request, response) => {
    answering += 1;
    response.once("close", () => {
      answering -= 1;
      if (!server.listening && answering === 0) server.closeAllConnections();
    });
    answer(request, response, address, take).catch(() => response.destroy());
  });
  await listen(server, port, lastPort);
  server.unref();
  address = `${host}:${(server.address() as AddressInfo).port}`;
  return {
    uri: `http://${address}${path}`,
    close() {
      server.close();
      if (answering === 0) server.closeAllConnections();
    },
  };
}

async function listen(
  server: ReturnType<typeof createServer>,
  port: number | undefined,
  lastPort: number | undefined,
): Promise<void> {
  try {
    await listenOn(server, port ?? lastPort ?? 0);
  } catch (error) {
    if (port === undefined && lastPort !== undefined) return listen(server, undefined, undefined);
    const why = errorCode(error) === "EADDRINUSE" ? "it is in use" : (errorCode(error) ?? errorMessage(error));
    throw new SignInFault(`port ${port ?? 0} of this machine can't receive the answer: ${why}`);
  }
}

function listenOn(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Fixed words only: nothing of the request or of a server gets into the page. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
  take: CallbackOptions["take"],
): Promise<void> {
  const own = [address, address.replace(host, "localhost")];
  // Another name means that a web page had its own name resolve to this machine.
  if (!own.includes(request.headers.host ?? "")) return reply(response, 421, "This address is not served here.");
  const [target, base] = [request.url ?? "", `http://${address}`];
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined;
  if (url?.pathname !== path) return reply(response, 404, "Not found.");
  if (request.method !== "GET") return reply(response, 405, "Only GET is possible here.");
  const given = answerOf(url.searchParams);
  const end = given === undefined ? undefined : take(given.state, given.answer);
  if (end === undefined) return reply(response, 400, "Tinman is not waiting for this sign-in. Start it again.");
  const { outcome } = await end;
  const words = outcome === "success" ? "You are signed in." : "The sign-in did not succeed. Tinman shows the reason.";
  reply(response, outcome === "success" ? 200 : 400, `${words} You can close this page.`);
}

/** `undefined` without exactly one state and one code or error. */
function answerOf(query: URLSearchParams): { readonly state: string; readonly answer: SignInAnswer } | undefined {
  const names = ["state", "code", "error", "iss", "error_description"];
  if (names.some((name) => query.getAll(name).length > 1)) return undefined;
  const [state, code, error, issuer, description] = names.map((name) => query.get(name));
  if (!state || Boolean(code) === Boolean(error)) return undefined;
  if (code) return { state, answer: { code, ...(issuer ? { issuer } : {}) } };
  return { state, answer: { error: error ?? "", ...(description ? { description } : {}) } };
}

function reply(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(`${words}\n`);
}
