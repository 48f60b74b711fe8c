import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { modelEntrySchema } from "../../src/config/schema/models.ts";
import { reasoningEfforts } from "../../src/engine/settings.ts";
import type { Provider } from "../../src/models/providers/providers.ts";
import { providers } from "../../src/models/providers/providers.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { createAnthropicServer } from "../fakes/providers/anthropic-server.ts";
import type { ProviderServer } from "../fakes/providers/base.ts";
import { createGoogleServer } from "../fakes/providers/google-server.ts";
import type { OpenAIChatOptions } from "../fakes/providers/openai-chat-server.ts";
import { chatDialects, createOpenAIChatServer } from "../fakes/providers/openai-chat-server.ts";
import { createOpenAIResponsesServer } from "../fakes/providers/openai-responses-server.ts";
import { isFullRun } from "../full-run.ts";

const page = readFileSync("docs/models.md", "utf8");

/** Configurations that the page claims were checked. */
const blocks = [...page.matchAll(/<!-- model-block: (.+?) -->\n```yaml\n([\s\S]*?)```/g)].map(
  ([whole, name = "", text = ""]) => ({ name, text, line: page.slice(0, page.indexOf(whole)).split("\n").length + 1 }),
);

interface Entry {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly apiKey?: string;
  baseUrl?: string;
}

const dialects: Readonly<Record<string, OpenAIChatOptions>> = { ...chatDialects, openrouter: chatDialects.openRouter };

/** A server of the kind that the block is about, and the address to configure. */
async function serve({ provider, model, apiKey }: Entry): Promise<{ server: ProviderServer; address: string }> {
  const { wire } = providers.find(({ id }) => id === provider) as Provider;
  const models = [model];
  switch (wire) {
    case "anthropic": {
      const server = await createAnthropicServer({ models });
      return { server, address: `${server.url}/v1` };
    }
    case "google": {
      const server = await createGoogleServer({ models });
      return { server, address: `${server.url}/v1beta` };
    }
    case "openai-responses": {
      const server = await createOpenAIResponsesServer({ models });
      return { server, address: server.url };
    }
    case "openai-chat": {
      const key = apiKey === undefined ? { key: undefined } : {};
      const server = await createOpenAIChatServer({ ...dialects[provider], models, ...key });
      return { server, address: server.url };
    }
  }
}

describe("the configurations of the page", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await createBench();
  });
  afterEach(() => bench.remove());

  test("there is one for every provider, each in its own block", () => {
    expect(blocks.map(({ name }) => name).filter((name) => !providers.some(({ id }) => id === name))).toEqual([
      "all keys",
    ]);
    expect(providers.map(({ id }) => id).filter((id) => !blocks.some(({ name }) => name === id))).toEqual([]);
    expect(page.match(/```yaml/g)?.length).toBe(blocks.length);
  });

  test("the table of presets matches the source", () => {
    const [section = ""] = (page.split("\n### Presets\n")[1] ?? "").split("\n## ");
    const rows = section.split("\n").filter((line) => line.startsWith("| `"));
    expect(rows.map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")))).toEqual(
      providers.map(({ id, name, keyVariables, baseUrl, isLocal }) => {
        const keys = keyVariables.map((variable) => `\`${variable}\``).join(", ");
        const from = [keys, ...(isLocal ? ["not needed"] : [])].filter((text) => text !== "").join(", ");
        return [`\`${id}\``, name, from, baseUrl === "" ? "must be given" : `\`${baseUrl}\``];
      }),
    );
  });

  // Each is a process, and many providers share a wire: the short run tries every second one of those.
  const isAlike = (name: string) => providers.some(({ id, wire }) => id === name && wire === "openai-chat");
  const tried = blocks.filter(({ name }, index) => isFullRun || !isAlike(name) || index % 2 === 0);

  test.each(tried)("docs/models.md:$line $name", async ({ name, text }) => {
    const config = parse(text) as { models: { default: string; entries: Entry[] } };
    const [entry, ...more] = config.models.entries;
    if (entry === undefined) throw new Error("the block has no entry");
    expect([more, config.models.default]).toEqual([[], entry.id]);
    if (name !== "all keys") expect(entry.provider).toBe(name);
    const { server, address } = await serve(entry);
    try {
      entry.baseUrl = address;
      await bench.shell("mkdir -p ~/.tinman && cat > ~/.tinman/config.yaml", { stdin: JSON.stringify(config) });
      const variable = /^\$\{(\w+)\}$/.exec(entry.apiKey ?? "")?.[1];
      expect(variable === undefined).toBe(entry.apiKey === undefined);
      const env = variable === undefined ? {} : { [variable]: server.key };
      server.enqueue({ text: ["Hello ", "there."], usage: { input: 20, output: 4 } });
      const { code, stdout, stderr } = await bench.tinman(["exec", "-o", "json", "Say hello."], { env });
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toMatchObject({
        result: "Hello there.",
        usage: { input_tokens: 20, output_tokens: 4 },
      });
      expect(server.requests.map(({ faults, aborted }) => ({ faults, aborted }))).toEqual([
        { faults: [], aborted: false },
      ]);
    } finally {
      await server.close();
    }
  });

  test("cost is reported if prices are configured", async () => {
    const block = blocks.find(({ name }) => name === "all keys");
    const config = parse(block?.text ?? "") as { models: { entries: Entry[] } };
    const [entry] = config.models.entries;
    if (entry === undefined) throw new Error("the block has no entry");
    const { server, address } = await serve(entry);
    try {
      entry.baseUrl = address;
      await bench.shell("mkdir -p ~/.tinman && cat > ~/.tinman/config.yaml", { stdin: JSON.stringify(config) });
      server.enqueue({ text: ["Hello."], usage: { input: 1_000_000, output: 500_000 } });
      const env = { TEAM_MODELS_KEY: server.key };
      const { stdout } = await bench.tinman(["exec", "-o", "json", "-m", "fast", "-r", "high", "Say hello."], { env });
      expect(JSON.parse(stdout)).toMatchObject({ result: "Hello.", total_cost_usd: 1.2 });
      expect(server.requests).toMatchObject([
        {
          body: { top_p: 0.9, reasoning_effort: "high", max_tokens: 16_384 },
          headers: { "x-team": "blue" },
          faults: [],
        },
      ]);
    } finally {
      await server.close();
    }
  });
});

/** The cells of the table rows below a heading. */
function rows(heading: string): readonly (readonly string[])[] {
  const section = page.slice(page.indexOf(`\n${heading}\n`)).split(/\n#+ /)[1] ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test("the table of presets matches the source", () => {
  const expected = providers.map(({ id, name, keyVariables, isLocal, baseUrl }) => {
    const variables = keyVariables.map((variable) => `\`${variable}\``);
    const key = [...variables, ...(isLocal === true ? ["not needed"] : [])].join(", ");
    return [`\`${id}\``, name, key, baseUrl === "" ? "must be given" : `\`${baseUrl}\``];
  });
  expect(rows("### Presets")).toEqual(expected);
  for (const { addressVariable } of providers) if (addressVariable) expect(page).toContain(`\`${addressVariable}\``);
});

test("every key of an entry and every effort is explained", () => {
  const keys = rows("### The keys of an entry").flatMap(([cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map((m) => m[1]),
  );
  expect(keys.toSorted()).toEqual(Object.keys(modelEntrySchema.shape).toSorted());
  const efforts = rows("## Reasoning effort").slice(0, 4);
  const named = efforts.flatMap(([cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1]));
  expect(named).toEqual([...reasoningEfforts]);
});
