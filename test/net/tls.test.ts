import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { bundleForChild } from "../fakes/bundle-for-child.ts";
import {
  ask,
  cannedServer,
  failureOf,
  fixture,
  httpsServer,
  rawServer,
  tempFolder,
  testNetwork,
  textOf,
} from "./support.ts";
import { startProxy } from "./test-proxy.ts";

const authority = fixture("authority.pem");
const advice = "; to trust it, set NODE_EXTRA_CA_CERTS or caFile";
const tlsError = (message: string) => ({ name: "NetworkError", kind: "tls", message });
const pinned = { address: "127.0.0.1" };

const saysHello = (certificate: string) => httpsServer(certificate, (_incoming, response) => response.end("hello"));

describe("a trusted certificate", () => {
  test.each([
    ["caFile", {}, { caFile: authority }],
    ["SSL_CERT_FILE", { SSL_CERT_FILE: authority }, {}],
    ["NODE_EXTRA_CA_CERTS with a caFile", { NODE_EXTRA_CA_CERTS: authority }, { caFile: fixture("self-signed.pem") }],
    ["both", { SSL_CERT_FILE: authority }, { caFile: fixture("self-signed.pem") }],
  ])("is accepted: %s", async (_how, env, options) => {
    const { port } = await saysHello("server.pem");
    const network = testNetwork(env, options);
    expect(await textOf(await ask(`https://service.test:${port}/`, network, pinned))).toBe("hello");
    expect(await textOf(await ask(`https://127.0.0.1:${port}/`, network))).toBe("hello");
  });

  test("sends SNI for a name but not for an address", async () => {
    const { port } = await httpsServer("server.pem", (incoming, response) => {
      response.end(JSON.stringify((incoming.socket as TLSSocket).servername));
    });
    const network = testNetwork({}, { caFile: authority });
    expect(await textOf(await ask(`https://service.test:${port}/`, network, pinned))).toBe('"service.test"');
    expect(await textOf(await ask(`https://127.0.0.1:${port}/`, network))).toBe("false");
  });

  test("can be self-signed if the file contains it", async () => {
    const { port } = await saysHello("self-signed.pem");
    const network = testNetwork({}, { caFile: fixture("self-signed.pem") });
    expect(await textOf(await ask(`https://service.test:${port}/`, network, pinned))).toBe("hello");
  });

  test("adds to Node's own roots", async () => {
    const { rootCertificates } = await import("node:tls");
    const { ca = [] } = await testNetwork({}, { caFile: authority }).trust();
    const trusted = new Set(ca.map((pem) => pem.trim()));
    const wanted = [...rootCertificates, await readFile(authority, "utf8")].map((pem) => pem.trim());
    expect(wanted.filter((pem) => !trusted.has(pem))).toEqual([]);
  });
});

describe("an untrusted certificate", () => {
  test.each([
    ["server.pem", {}, `is signed by an unknown authority${advice}`],
    ["self-signed.pem", {}, `is self-signed${advice}`],
    ["self-signed.pem", { caFile: authority }, `is self-signed${advice}`],
    ["expired.pem", { caFile: authority }, "has expired"],
    ["other-name.pem", { caFile: authority }, "is for another host"],
  ])("is rejected: %s with %j", async (certificate, options, fault) => {
    const { port } = await saysHello(certificate);
    const asked = ask(`https://service.test:${port}/?key=secret`, testNetwork({}, options), pinned);
    expect(await failureOf(asked)).toEqual(tlsError(`The certificate of service.test:${port} ${fault}.`));
  });

  test("leads to a remark on an unusable SSL_CERT_FILE", async () => {
    const { port } = await saysHello("server.pem");
    const network = testNetwork({ SSL_CERT_FILE: "/nowhere/certificates.pem" });
    expect(await failureOf(ask(`https://service.test:${port}/`, network, pinned))).toEqual(
      tlsError(
        `The certificate of service.test:${port} is signed by an unknown authority${advice} (SSL_CERT_FILE is unreadable or has no certificates).`,
      ),
    );
  });

  test("is an error for an unusable caFile, until it is fixed", async () => {
    const { port } = await saysHello("server.pem");
    const file = join(await tempFolder(), "authority.pem");
    const network = testNetwork({}, { caFile: file });
    const get = () => ask(`https://service.test:${port}/`, network, pinned);
    const wrong = tlsError(`The certificate file ${file} (caFile) is unreadable or has no certificates.`);
    expect(await failureOf(get())).toEqual(wrong);
    await writeFile(file, "not a certificate");
    expect(await failureOf(get())).toEqual(wrong);
    await writeFile(file, await readFile(authority));
    expect(await textOf(await get())).toBe("hello");
  });

  test("is an error for a malformed certificate in caFile", async () => {
    const file = join(await tempFolder(), "broken.pem");
    await writeFile(file, "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n");
    const { port } = await saysHello("server.pem");
    const seen = await failureOf(ask(`https://service.test:${port}/`, testNetwork({}, { caFile: file }), pinned));
    expect(seen.kind).toBe("tls");
  });
});

describe("with NODE_TLS_REJECT_UNAUTHORIZED=0", () => {
  /** The output of a child process, and the requests that reached the server. */
  async function outcome(certificate: string, proxied: "directly" | "http" | "https", env: Record<string, string>) {
    const asked: (string | undefined)[] = [];
    const { port } = await httpsServer(certificate, (incoming, response) => {
      asked.push(incoming.headers.authorization);
      response.end("hello");
    });
    const proxy = proxied === "directly" ? undefined : await startProxy({ target: port, secure: proxied === "https" });
    const way = proxy === undefined ? {} : { HTTPS_PROXY: `${proxied}://127.0.0.1:${proxy.port}` };
    const url = proxy === undefined ? `https://127.0.0.1:${port}/` : "https://service.test/";
    const program = await bundleForChild(join(import.meta.dirname, "tls-child.ts"), await tempFolder());
    const child = spawn(process.execPath, [program, url], {
      env: { NODE_TLS_REJECT_UNAUTHORIZED: "0", ...way, ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [chunks] = await Promise.all([child.stdout.toArray(), once(child, "close")]);
    const output = chunks
      .join("")
      .replace(`127.0.0.1:${port}`, "SERVER")
      .replace(`127.0.0.1:${proxy?.port}`, "PROXY")
      .replace("service.test:443", "SERVER");
    return { output, asked, tunnels: proxy?.asked };
  }

  const trusting = { CA_FILE: authority };
  const tunnel = ["CONNECT service.test:443"];
  const selfSigned = `tls: The certificate of SERVER is self-signed${advice}.`;
  const unknownProxy = `tls: The certificate of the proxy PROXY (HTTPS_PROXY) is signed by an unknown authority${advice}.`;

  test.each([
    ["self-signed.pem", "directly", {}, { output: selfSigned, asked: [], tunnels: undefined }],
    [
      "other-name.pem",
      "directly",
      trusting,
      { output: "tls: The certificate of SERVER is for another host.", asked: [], tunnels: undefined },
    ],
    [
      "expired.pem",
      "directly",
      trusting,
      { output: "tls: The certificate of SERVER has expired.", asked: [], tunnels: undefined },
    ],
    ["server.pem", "directly", trusting, { output: "status 200", asked: ["Bearer key"], tunnels: undefined }],
    ["self-signed.pem", "http", {}, { output: selfSigned, asked: [], tunnels: tunnel }],
    ["self-signed.pem", "https", trusting, { output: selfSigned, asked: [], tunnels: tunnel }],
    ["server.pem", "https", {}, { output: unknownProxy, asked: [], tunnels: [] }],
    ["server.pem", "https", trusting, { output: "status 200", asked: ["Bearer key"], tunnels: tunnel }],
  ] as const)("%s, %s, with %j", async (certificate, proxied, env, expected) => {
    expect(await outcome(certificate, proxied, env)).toEqual(expected);
  });
});

describe("a server without TLS", () => {
  test("speaks HTTP", async () => {
    const { port } = await cannedServer("HTTP/1.1 400 Bad Request\r\n\r\n");
    expect(await failureOf(ask(`https://127.0.0.1:${port}/`, testNetwork()))).toEqual(
      tlsError(`No TLS at 127.0.0.1:${port}; is it an http address?`),
    );
  });

  test.each([
    ["ends", (socket: import("node:net").Socket) => socket.end()],
    ["resets", (socket: import("node:net").Socket) => socket.resetAndDestroy()],
  ])("%s the connection", async (_how, hangUp) => {
    const { port } = await rawServer((socket) => socket.once("data", () => hangUp(socket)));
    expect(await failureOf(ask(`https://127.0.0.1:${port}/`, testNetwork()))).toEqual({
      name: "NetworkError",
      kind: "reset",
      message: `The connection to 127.0.0.1:${port} was closed during the TLS handshake.`,
    });
  });

  test("gets plain http where the server expects TLS", async () => {
    const { port } = await saysHello("server.pem");
    const seen = await failureOf(ask(`http://127.0.0.1:${port}/`, testNetwork()));
    expect(["reset", "malformed"]).toContain(seen.kind);
  });
});
