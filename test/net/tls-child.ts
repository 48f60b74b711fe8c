import { request } from "../../src/net/http/request.ts";
import { createNetwork } from "../../src/net/network.ts";
import { NetworkError } from "../../src/net/network-error.ts";

/** Requests the address of its command line with a key, and prints the outcome. */
const { CA_FILE: caFile, ...env } = process.env;
const network = createNetwork(env, caFile === undefined ? {} : { caFile });
const timeouts = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 };
const headers = { authorization: "Bearer key" };
try {
  const url = new URL(process.argv[2] ?? "");
  const { status, close } = await request({ url, method: "GET", headers, timeouts, network });
  close();
  process.stdout.write(`status ${status}`);
} catch (error) {
  if (!(error instanceof NetworkError)) throw error;
  process.stdout.write(`${error.kind}: ${error.message}`);
}
