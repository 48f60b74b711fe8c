import { createFetch } from "../../../src/net/http/fetch.ts";
import { createNetwork } from "../../../src/net/network.ts";

/** Fetches the address of its command line and prints which modules of Node's `fetch`, TLS and compression were loaded. */
const timeouts = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 };
const fetch = createFetch(createNetwork({}), timeouts);
const response = await fetch(process.argv[2] ?? "", { method: "POST", body: "x", headers: { a: "b" } });
const text = await response.text();
const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
const loaded = moduleLoadList.filter((name) => /undici|NativeModule (?:tls|https|_tls_wrap|zlib)$/.test(name));
process.stdout.write(JSON.stringify({ text, loaded }));
