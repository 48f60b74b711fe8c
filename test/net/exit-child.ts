import { request } from "../../src/net/http/request.ts";
import { createNetwork } from "../../src/net/network.ts";

/** Requests each address of its command line, then ends without calling `process.exit`. */
const { CA_FILE: caFile, ...env } = process.env;
const network = createNetwork(env, caFile === undefined ? {} : { caFile });
const timeouts = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 };
for (const address of process.argv.slice(2)) {
  const { body } = await request({ url: new URL(address), method: "GET", headers: {}, timeouts, network });
  let text = "";
  for await (const piece of body) text += Buffer.from(piece).toString();
  process.stdout.write(`${text}\n`);
}
process.stdout.write("all read\n");
