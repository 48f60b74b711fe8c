import { systemClock } from "../../../src/host/clock-and-ids.ts";
import { createWithLock } from "../../../src/mcp/sign-in/lock.ts";
import { createTokenStore } from "../../../src/mcp/sign-in/token-store.ts";

/** Stores tokens of servers with this process's name, one by one, in the home of its arguments. */
const [home = "", name = "", count = "0"] = process.argv.slice(2);
const store = createTokenStore(home, createWithLock(systemClock));
for (let number = 0; number < Number(count); number += 1) {
  const key = { name: `${name}-${number}`, url: "https://mcp.example/mcp" };
  const tokens = { issuer: "https://auth.example", clientId: "c", access: "a".repeat(200), issuedAt: 1 };
  await store.update(key, () => ({ ...key, tokens }));
}
process.stdout.write("done\n");
