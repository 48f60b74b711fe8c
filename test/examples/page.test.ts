import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notification } from "../../src/protocol/droid/notifications.ts";
import { clientParams } from "../../src/protocol/droid/params.ts";
import { permissionDetails } from "../../src/protocol/droid/server-requests.ts";
import { retryReasons, turnEndReasons, workingStates } from "../../src/protocol/droid/words.ts";
import { blocksOf } from "../docs/blocks.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { openWire } from "../fakes/rpc/wire.ts";
import { conversations, type Said } from "./conversations.ts";
import { arrowsOf, draw, drawnArrows } from "./order.ts";
import { partsOf, resembles } from "./resembles.ts";

const path = "docs/stream-jsonrpc.md";
const page = readFileSync(path, "utf8");
const chinese = readFileSync("docs/stream-jsonrpc.zh.md", "utf8");

/** Blocks that show a conversation: `order` as a diagram, `wire` as its messages, in order. */
const shown = [...page.matchAll(/<!-- (order|wire): ([\w-]+) -->\n```(text|json|jsonl)\n([\s\S]*?)```/g)].map(
  ([whole, kind = "", name = "", language = "", text = ""]) => {
    const line = page.slice(0, page.indexOf(whole)).split("\n").length;
    return { kind, name, language, text, line };
  },
);

const benches: Bench[] = [];
const held = new Map<string, Promise<readonly Said[]>>();

/** Each conversation runs once. */
function hold(name: string): Promise<readonly Said[]> {
  const before = held.get(name);
  if (before !== undefined) return before;
  const talking = (async () => {
    const bench = await createBench();
    benches.push(bench);
    const conversation = conversations[name];
    if (conversation === undefined) throw new Error(`there is no conversation "${name}"`);
    return conversation(bench);
  })();
  held.set(name, talking);
  return talking;
}

afterAll(() => Promise.all(benches.map((bench) => bench.remove())));

describe.concurrent("the page matches the program", () => {
  it.for(shown.filter(({ kind }) => kind === "order"))(`${path}:$line, $name`, async ({ name, text }, { expect }) => {
    const [arrows, drawn] = [arrowsOf(await hold(name)), drawnArrows(text)];
    const first = arrows.findIndex(({ by, label }) => by === drawn[0]?.by && label === drawn[0]?.label);
    expect(drawn.length).toBe(text.trimEnd().split("\n").length - 1);
    expect(drawn, `all of it:\n${draw(arrows)}`).toEqual(arrows.slice(first, first + drawn.length));
  });

  it.for(shown.filter(({ kind }) => kind === "wire"))(
    `${path}:$line, $name`,
    async ({ name, language, text }, { expect }) => {
      const said = await hold(name);
      const lines = language === "json" ? [text] : text.trimEnd().split("\n");
      let from = 0;
      for (const line of lines) {
        const wanted = JSON.parse(line) as { readonly type?: string };
        const found = said.findIndex(
          ({ message }, at) => at >= from && partsOf(message).some((part) => resembles(wanted, part)),
        );
        const near = said
          .map(({ message }) => JSON.stringify(message))
          .filter((one) => one.includes(`"${wanted.type}"`));
        expect(found, [line, "is not among", ...near].join("\n")).toBeGreaterThanOrEqual(from);
        from = found + 1;
      }
    },
  );
});

it("shows part of every conversation", () => {
  const names = new Set(shown.map(({ name }) => name));
  expect(Object.keys(conversations).filter((name) => !names.has(name))).toEqual([]);
});

it("has a Chinese version with the same blocks", () => {
  const bare = (text: string) =>
    blocksOf("", text).map(({ language, text: body, directives }) => ({ language, body, directives }));
  expect(bare(chinese)).toEqual(bare(page));
  expect(chinese.match(/^##+ /gm)?.length).toBe(page.match(/^##+ /gm)?.length);
});

describe.each([
  ["English", page],
  ["Chinese", chinese],
])("the tables of the %s page", (_, text) => {
  const tables = [...text.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => table);
  /** The code words in the first cells of the table that has a row for this word. */
  const firstCells = (word: string): string[] => {
    const rows =
      tables
        .find((table) => table.includes(`\n| \`${word}\``))
        ?.split("\n")
        .slice(2) ?? [];
    return rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ""));
  };

  it("name every method", () => {
    const headed = [...text.matchAll(/^### (\w+_\w+)$/gm)].map((match) => match[1] ?? "");
    const named = [...headed, ...firstCells("close_session"), ...firstCells("list_mcp_servers")].filter(
      (name) => !/^(request_permission|ask_user)$/.test(name),
    );
    expect(named.map((name) => `droid.${name}`).toSorted()).toEqual(Object.keys(clientParams).toSorted());
  });

  it("name every notification, state and reason", () => {
    const types = notification.options.map(({ shape }) => shape.type.value);
    expect(firstCells("droid_working_state_changed").toSorted()).toEqual(types.toSorted());
    expect(firstCells("completed").toSorted()).toEqual([...turnEndReasons].toSorted());
    for (const word of [...workingStates, ...retryReasons]) expect(text).toContain(`\`${word}\``);
    expect(firstCells("exec")).toEqual(permissionDetails.options.map(({ shape }) => shape.type.value));
  });

  it("name every parameter", () => {
    const named = new Set([...text.matchAll(/`(\w+)`/g)].map((match) => match[1]));
    const parameters = Object.values(clientParams).flatMap((schema) => Object.keys(schema.shape));
    expect(parameters.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe("unsupported methods", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await createBench();
  });
  afterAll(() => bench.remove());

  it("are answered as unknown", async () => {
    const section = page.slice(page.indexOf("## Not there yet"));
    const line = section.split("\n").find((one) => one.includes("-32601")) ?? "";
    const methods = [...line.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? "");
    expect(methods.length).toBeGreaterThan(5);
    const wire = openWire(bench, { protocolVersion: "1.15.0" });
    const answers = await Promise.all(methods.map((method) => wire.request(`droid.${method}`, {})));
    wire.eof();
    await wire.exit();
    expect(answers.map(({ error }) => error?.code)).toEqual(methods.map(() => -32601));
  });
});
