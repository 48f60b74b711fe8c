import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { discoverLocalModels } from "../../../src/models/providers/discover.ts";
import type { Provider } from "../../../src/models/providers/providers.ts";
import { createFetch } from "../../../src/net/http/fetch.ts";
import { createNetwork } from "../../../src/net/network.ts";
import { chatDialects, createOpenAIChatServer } from "../../fakes/providers/openai-chat-server.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

interface Listener {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** Resolves when a client disconnects before its response is complete. */
  readonly abandoned: Promise<void>;
}

async function listen(answer: (response: ServerResponse, request: IncomingMessage) => void): Promise<Listener> {
  const requests: IncomingMessage[] = [];
  let abandon = (): void => undefined;
  const abandoned = new Promise<void>((resolve) => {
    abandon = resolve;
  });
  const server = createServer((request, response) => {
    requests.push(request);
    response.on("close", () => !response.writableFinished && abandon());
    response.on("error", () => undefined);
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, abandoned };
}

const at = (id: string, baseUrl: string, keyVariables: readonly string[] = []): Provider => ({
  id,
  name: id.toUpperCase(),
  wire: "openai-chat",
  baseUrl,
  keyVariables,
  isLocal: true,
});

function discover(servers: readonly Provider[], env = {}, signal = new AbortController().signal) {
  const network = createNetwork({ HTTP_PROXY: "http://127.0.0.1:9" });
  open.push({ close: async () => network.close() });
  return discoverLocalModels(async (timeouts) => createFetch(network, timeouts), env, signal, servers);
}

test("lists the models of running servers, bypassing a proxy", async () => {
  const ollama = await createOpenAIChatServer({ ...chatDialects.ollama, models: ["llama3.2", "qwen3:8b"] });
  const vllm = await createOpenAIChatServer(chatDialects.vllm);
  open.push(ollama, vllm);
  expect(await discover([at("ollama", ollama.url), at("vllm", vllm.url)])).toEqual([
    { provider: "ollama", name: "OLLAMA", address: ollama.url, models: [{ name: "llama3.2" }, { name: "qwen3:8b" }] },
    {
      provider: "vllm",
      name: "VLLM",
      address: vllm.url,
      models: [{ name: "Qwen/Qwen3-32B", contextWindow: 32_768 }],
    },
  ]);
});

test("marks a server that is not at its preset's address", async () => {
  const server = await createOpenAIChatServer(chatDialects.vllm);
  open.push(server);
  const found = await discover([{ ...at("vllm", server.url), comingBaseUrl: server.url }]);
  expect(found).toMatchObject([{ address: server.url, isElsewhere: true, models: [{ name: "Qwen/Qwen3-32B" }] }]);
});

test("sends a key only to a server that asks for one", async () => {
  const locked = await createOpenAIChatServer({ ...chatDialects.vllm, key: "local-key" });
  const frank = await createOpenAIChatServer(chatDialects.vllm);
  open.push(locked, frank);
  const ask = async (env: Readonly<Record<string, string>>) => {
    const found = await discover([at("locked", locked.url, ["LOCAL_KEY"]), at("frank", frank.url, ["LOCAL_KEY"])], env);
    return found.map(({ models, problem }) => problem ?? models.length);
  };
  expect(await ask({})).toEqual(["it needs a key (401): set LOCAL_KEY", 1]);
  expect(await ask({ LOCAL_KEY: " local-key\n" })).toEqual([1, 1]);
  expect(await ask({ LOCAL_KEY: "other-key" })).toEqual(["it refused the key in LOCAL_KEY (401)", 1]);
  expect(frank.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
});

test("reports whatever else listens there as a problem", async () => {
  const json = (value: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(value));
  const big = `{"data":[${" ".repeat(64 * 1024)}`;
  const endless = await listen((response) => {
    const more = (): void => void (response.destroyed || response.write(big, () => setImmediate(more)));
    more();
  });
  const dripping = await listen((response) => {
    const timer = setInterval(() => response.write(" "), 200);
    response.on("close", () => clearInterval(timer));
  });
  const silent = await listen(() => undefined);
  const closed = await listen(() => undefined);
  await open.pop()?.close();
  const cases: readonly (readonly [id: string, url: string, expected: unknown])[] = [
    ["closed", closed.url, "nothing listens there"],
    ["silent", silent.url, "it did not answer within 3 s"],
    ["dripping", dripping.url, "it did not answer within 3 s"],
    ["endless", endless.url, "its model list is larger than 1 MB"],
    ["garbage", (await listen((r) => void r.end("\u0000\u0001"))).url, "not a model server"],
    ["page", (await listen((r) => void r.end("<html>Hello</html>"))).url, "not a model server"],
    ["other", (await listen(json({ data: {} }))).url, "not a model server"],
    ["null", (await listen(json(null))).url, "not a model server"],
    ["missing", (await listen((r) => void r.writeHead(404).end("no"))).url, "it returned status 404"],
    ["moved", (await listen((r) => void r.writeHead(302, { location: "/x" }).end())).url, "it returned status 302"],
    ["idle", (await listen(json({ data: [] }))).url, "it has no models"],
    [
      "odd names",
      (await listen(json({ data: [null, 7, {}, { id: 1 }, { id: "" }, { id: "a b" }, { id: "\u001b[2J" }] }))).url,
      "it has no models",
    ],
    ["many", (await listen(json({ data: Array.from({ length: 5_000 }, (_, n) => ({ id: `m${n}` })) }))).url, 200],
    [
      "not http",
      (await listen((r) => void r.socket?.end("SSH-2.0\r\n"))).url,
      expect.stringMatching(/^The response from 127\.0\.0\.1:\d+ /),
    ],
  ];
  const servers = cases.map(([id, url]) => at(id, url));
  const found = (await Promise.all([discover(servers.slice(0, 7)), discover(servers.slice(7))])).flat();
  expect(found.map(({ provider, models, problem }) => [provider, problem ?? models.length])).toEqual(
    cases.map(([id, , expected]) => [id, expected]),
  );
  await Promise.all([endless.abandoned, dripping.abandoned, silent.abandoned]);
});

test("ends at once on an abort", async () => {
  const stopping = new AbortController();
  const silent = await listen(() => stopping.abort());
  const found = await discover([at("silent", silent.url)], {}, stopping.signal);
  expect(found).toMatchObject([{ models: [], problem: "the query was cancelled" }]);
  await silent.abandoned;
});
