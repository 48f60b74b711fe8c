import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWeb } from "../../../src/host/web/web.ts";
import { httpServer, testNetwork } from "../../net/support.ts";
import { startProxy } from "../../net/test-proxy.ts";
import { answering, asking, get, names, plain, timeouts, wordsOf } from "../web-support.ts";

describe("private addresses", () => {
  it("are rejected in any notation, without a connection", async () => {
    const { port, connections } = await httpServer(answering("secret"));
    const hosts = [
      "127.0.0.1",
      "127.0.0.1.",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "017700000001",
      "１２７.0.0.1",
      "%31%32%37.0.0.1",
      "0",
      "0.0.0.0",
      "localhost",
      "LOCALHOST.",
      "a.b.localhost",
      "169.254.169.254",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[0:0:0:0:0:0:0:1]",
      "[64:ff9b::7f00:1]",
      "[fd00:ec2::254]",
    ];
    const { lookUpAll } = names({});
    const answers = await Promise.all(
      hosts.map(async (host) => {
        const words = await wordsOf(get(`http://${host}:${port}/`, { allowPrivate: [], lookUpAll }));
        return [host, words.includes("is not a public address") ? "refused" : words];
      }),
    );
    expect(answers).toEqual(hosts.map((host) => [host, "refused"]));
    expect(connections).toEqual([]);
  });

  it("are rejected even if only one of a name's addresses is private", async () => {
    const { lookUpAll, asked } = names({
      "metadata.internal": ["169.254.169.254"],
      "mixed.test": ["8.8.8.8", "2606:4700::1", "10.0.0.7"],
    });
    const options = { allowPrivate: [], lookUpAll };
    expect([
      await wordsOf(get("http://metadata.internal/computeMetadata/v1/?key=1", options)),
      await wordsOf(get("https://mixed.test:8443/", options)),
      await wordsOf(get("http://nowhere.test/", options)),
    ]).toEqual([
      "metadata.internal leads to 169.254.169.254, which is not a public address. This machine and private networks are off limits. The user can allow it with fetch.allowPrivate in the configuration.",
      "mixed.test:8443 leads to 10.0.0.7, which is not a public address. This machine and private networks are off limits. The user can allow it with fetch.allowPrivate in the configuration.",
      "The name nowhere.test could not be looked up, so its addresses cannot be checked.",
    ]);
    expect(asked).toEqual(["metadata.internal", "mixed.test", "nowhere.test"]);
  });

  it("cannot be reached by a name that changes a moment later", async () => {
    const { port, connections } = await httpServer((request, response) => response.end(request.headers.host));
    let count = 0;
    const lookUpAll = async () => {
      count += 1;
      return [{ address: count === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }];
    };
    const page = await get(`http://rebinding.test:${port}/`, { lookUpAll });
    expect({ body: Buffer.from(page.body).toString(), count, connections: connections.length }).toEqual({
      body: `rebinding.test:${port}`,
      count: 1,
      connections: 1,
    });
  });

  it("are reached if the configuration allows them by name, port or block", async () => {
    const { port } = await httpServer(answering("inside"));
    const { lookUpAll } = names({ "intranet.test": ["127.0.0.1"], localhost: ["127.0.0.1"] });
    const read = async (url: string, allowed: string) =>
      (await get(url, { lookUpAll, allowPrivate: [allowed] })).body.length;
    expect([
      await read(`http://intranet.test:${port}/`, "intranet.test"),
      await read(`http://localhost:${port}/`, `localhost:${port}`),
      await read(`http://127.1:${port}/`, `127.0.0.1:${port}`),
      await read(`http://127.1:${port}/`, "127.0.0.0/8"),
      await read(`http://intranet.test:${port}/`, "127.0.0.0/8"),
      await read(`http://intranet.test:${port}/`, "*"),
    ]).toEqual([6, 6, 6, 6, 6, 6]);
    for (const other of ["localhost", "127.0.0.1", `127.0.0.1:${port}`])
      expect(await wordsOf(read(`http://intranet.test:${port}/`, other))).toContain(
        "leads to 127.0.0.1, which is not a public address",
      );
  });
});

describe("this machine's own addresses and its neighbours'", () => {
  const interfaces = () => ({ eth0: [{ address: "8.8.4.4", cidr: "8.8.4.4/24" }] });
  const throughProxy = async () => {
    const { port } = await httpServer(answering("from far away"));
    const proxy = await startProxy({ target: port });
    return { proxy, network: testNetwork({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` }) };
  };
  const words = (start: string) =>
    `${start} an address of this machine or of its own network. This machine and private networks are off limits. The user can allow it with fetch.allowPrivate in the configuration.`;

  it("are rejected although they are public, by any name and after redirects, unless allowed", async () => {
    const { network, proxy } = await throughProxy();
    const { lookUpAll } = names({
      "me.test": ["8.8.4.4"],
      "far.test": ["8.8.4.5"],
      "both.test": ["8.8.4.5", "8.8.4.4"],
    });
    const reading = { network, lookUpAll, interfaces, allowPrivate: [] };
    expect([
      await wordsOf(get("http://8.8.4.4/", reading)),
      await wordsOf(get("http://me.test:8080/", reading)),
      await wordsOf(get("http://both.test/", reading)),
      await wordsOf(get("http://[::ffff:8.8.4.4]/", reading)),
    ]).toEqual([
      words("8.8.4.4 is"),
      words("me.test:8080 leads to 8.8.4.4, which is"),
      words("both.test leads to 8.8.4.4, which is"),
      words("[::ffff:808:404] is"),
    ]);
    expect(proxy.asked).toEqual([]);
    const far = await get("http://far.test/", reading);
    const own = await get("http://8.8.4.4/", { ...reading, allowPrivate: ["8.8.4.4:80"] });
    const named = await get("http://me.test/", { ...reading, allowPrivate: ["8.8.4.4/32"] });
    expect([far, own, named].map((page) => plain(page).body)).toEqual(Array(3).fill("from far away"));

    const inward = await httpServer((_, response) => response.writeHead(302, { location: "http://me.test/" }).end());
    const start = `http://127.0.0.1:${inward.port}/`;
    expect(await wordsOf(get(start, { lookUpAll, interfaces }))).toBe(words("me.test leads to 8.8.4.4, which is"));
  });

  it("are looked up for every request, because they change", async () => {
    const { network } = await throughProxy();
    let now: ReturnType<typeof interfaces> | undefined;
    const web = createWeb({ network, timeouts, interfaces: () => now ?? {} });
    const read = () => web.get("http://8.8.4.4/", asking, new AbortController().signal);
    expect(plain(await read()).body).toBe("from far away");
    now = interfaces();
    expect(await wordsOf(read())).toBe(words("8.8.4.4 is"));
  });

  it("are those that the system reports", async () => {
    const real = os.networkInterfaces;
    const restore = (to: typeof real): void => {
      os.networkInterfaces = to;
      syncBuiltinESMExports();
    };
    onTestFinished(() => restore(real));
    const common = { netmask: "255.255.255.0", mac: "00:00:00:00:00:00", internal: false };
    restore(() => ({ eth0: [{ ...common, family: "IPv4", address: "8.8.4.4", cidr: "8.8.4.4/24" }] }));
    const { proxy, network } = await throughProxy();
    expect(await wordsOf(get("http://8.8.4.4/", { network }))).toBe(words("8.8.4.4 is"));
    expect(proxy.asked).toEqual([]);
  });

  it("must be known: otherwise only names that are allowed can be fetched", async () => {
    const { network } = await throughProxy();
    const silent = (): never => {
      throw new Error("uv_interface_addresses returned Unknown system error 1");
    };
    const options = { network, interfaces: silent, ...names({ "far.test": ["8.8.4.5"] }) };
    expect(await wordsOf(get("http://far.test/", options))).toBe(
      "This machine's own addresses are unknown, so no address can be checked. The user can allow servers by name with fetch.allowPrivate in the configuration.",
    );
    const page = await get("http://far.test/", { ...options, allowPrivate: ["far.test"] });
    expect(plain(page).body).toBe("from far away");
  });
});
