import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { userConfigSchema } from "../../src/config/schema/user-config.ts";
import { createMetrics } from "../../src/server/metrics.ts";

/** The leaves of a schema: `serve.limits.connections`. */
function keysOf(schema: unknown, path: string): readonly string[] {
  const { properties } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([key, below]) => keysOf(below, `${path}.${key}`));
}

test("serve and interactive have a row for every key, and no other rows", () => {
  const { properties = {} } = z.toJSONSchema(userConfigSchema, { io: "input", unrepresentable: "any" });
  const keys = ["serve", "interactive"].flatMap((name) => keysOf(properties[name], name));
  const rows = readFileSync("docs/configuration.md", "utf8").matchAll(/^\| `((?:serve|interactive)\.[\w.]+)` \| \S/gm);
  expect(Array.from(rows, ([, key]) => key)).toEqual(keys);
});

test("every metric has a row", async () => {
  const metrics = createMetrics({ version: "1" });
  onTestFinished(metrics.stop);
  const { body } = await metrics.text();
  const page = readFileSync("docs/serve.md", "utf8").replace(
    "`tinman_event_loop_delay_p50_seconds`, `…_p99_seconds`, `…_max_seconds`",
    ["p50", "p99", "max"].map((which) => `\`tinman_event_loop_delay_${which}_seconds\``).join(", "),
  );
  const named = Array.from(page.matchAll(/`(tinman_\w+)`/g), ([, name]) => name);
  const counted = Array.from(body.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name);
  expect(named.toSorted()).toEqual(counted.toSorted());
});

test("every log event has a row", () => {
  const files = [
    "commands/serve/serve.ts",
    "commands/serve/serve-observer.ts",
    "commands/serve/serve-rpc.ts",
    "access/report.ts",
    "frontends/interactive/server.ts",
    ...["connections", "credentials", "server", "log"].map((name) => `server/${name}.ts`),
  ];
  const source = files.map((file) => readFileSync(`src/${file}`, "utf8")).join("\n");
  const said = Array.from(
    source.matchAll(/(?:log\.\w+|tryTo)\(\s*"(\w+\.\w+)"|event: "(\w+\.\w+)"/g),
    ([, a, b]) => a ?? b,
  );
  const [, table = ""] = /\| event \| level \|([\s\S]*?)\n\n/.exec(readFileSync("docs/serve.md", "utf8")) ?? [];
  const rows = Array.from(table.matchAll(/`(\w+\.\w+)`/g), ([, name]) => name);
  expect(rows.toSorted()).toEqual([...new Set(said)].toSorted());
});
