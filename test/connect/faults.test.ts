import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { socketTo } from "../../src/connect/socket.ts";
import { faultOfError } from "../../src/connect/socket-faults.ts";
import { closeAll, fakeServer, parrot } from "./connected.ts";

const servers: Server[] = [];

afterEach(async () => {
  await closeAll();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** The message without the address. */
async function faultAt(address: string): Promise<unknown> {
  const open = socketTo({ url: new URL(address), token: undefined, tokenWords: "Here it comes from." });
  const events = { text: () => undefined, closed: () => undefined };
  const fault = await open(events).then(
    () => "it is open",
    (error: Error) => error.message,
  );
  return fault.replace(address, "A");
}

/** Sends this to every client, and disconnects. */
const saying = (text: string) =>
  listening(
    createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(text));
    }),
  );

describe("the first connection", () => {
  test("if refused, says how to start a server", async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await faultAt(`ws://127.0.0.1:${port}/ws`)).toBe(
      "Cannot reach A: nothing listens there. Start a server with tinman serve.",
    );
  });

  test.each([
    [401, "A rejected the token (401). Here it comes from."],
    [403, "A denied access (403). Its host may be missing in serve.hosts, or the token's role is too low."],
    [404, "Nothing found at A (404). The API of tinman serve is at /ws."],
    [503, "A accepts no connections now (503): it is stopping, or has too many."],
    [200, "A is not a WebSocket: it answered with HTTP 200."],
    [302, "A is not a WebSocket: it answered with HTTP 302."],
  ])("if answered with %i", async (status, words) => {
    const server = await fakeServer(parrot);
    server.refuse(status);
    expect(await faultAt(server.url)).toBe(words);
  });

  test.each([
    ["something that is not HTTP", "220 mail.example.org\r\n", "Cannot reach A: it is not a WebSocket."],
    [
      "a malformed handshake",
      "HTTP/1.1 101 Yes\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
      "Cannot reach A: it is not a WebSocket.",
    ],
    ["nothing", "", "Cannot reach A: the other side closed the connection."],
  ])("if answered with %s", async (_, text, words) => {
    const port = await saying(text);
    expect(await faultAt(`ws://127.0.0.1:${port}/ws`)).toBe(words);
  });

  test("with TLS to a server without it", async () => {
    const port = await saying("HTTP/1.1 400 Bad Request\r\n\r\n");
    expect(await faultAt(`wss://127.0.0.1:${port}/ws`)).toBe(
      "Cannot reach A: it does not speak TLS. Use ws:// for an address without TLS.",
    );
  });

  test("with TLS to a server with an untrusted certificate", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tinman-tls-"));
    try {
      const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
      const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost";
      execFileSync("openssl", [...words.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" });
      const port = await listening(createHttps({ key: readFileSync(key), cert: readFileSync(cert) }));
      expect(await faultAt(`wss://127.0.0.1:${port}/ws`)).toBe(
        "Cannot reach A: its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). " +
          "Set NODE_EXTRA_CA_CERTS to a file with additional certificates.",
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    ["ENOTFOUND", "the host does not exist"],
    ["EAI_AGAIN", "the host's name could not be looked up"],
    ["EHOSTUNREACH", "no route to the host"],
    ["EMFILE", "what the system says"],
  ])("if it fails with %s", (code, words) => {
    const error = Object.assign(new Error("what the system says"), { code });
    const fault = `Cannot reach A: ${words}.`;
    expect(faultOfError(error, "A").message).toBe(fault);
    expect(faultOfError(new AggregateError([error, error]), "A").message).toBe(fault);
  });
});
