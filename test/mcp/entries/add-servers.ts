import { createServerSources } from "../../../src/mcp/entries/sources.ts";

/** A process that adds servers: `<home> <prefix> <count>`. */
const [home = "", prefix = "", count = "0"] = process.argv.slice(2);
const sources = createServerSources({ home, config: undefined, env: {} });
for (let index = 0; index < Number(count); index += 1) {
  await sources.add({ name: `${prefix}${index}`, entry: { kind: "stdio", command: "srv", args: [], env: {} } });
  if (index % 2 === 0) await sources.setEnabled(`${prefix}${index}`, false);
}
