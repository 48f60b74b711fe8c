import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, it } from "vitest";
import { interactiveSchema } from "../../scripts/interactive-schema.ts";
import { denialReasons } from "../../src/access/denied.ts";
import {
  answerEnds,
  interactiveNotifications,
  interactiveParams,
  interactiveResults,
  refusedCode,
  rpcErrors,
} from "../../src/protocol/interactive.ts";
import type { Server } from "../e2e/serve/server.ts";
import { resembles } from "./resembles.ts";
import { conversations, serverOf } from "./ws-conversations.ts";
import type { Said } from "./ws-talk.ts";

const path = "docs/interactive.md";
const page = readFileSync(path, "utf8");

/** Blocks that show frames of a conversation, in order. */
const shown = [...page.matchAll(/<!-- wire: ([\w-]+) -->\n```(jsonl?)\n([\s\S]*?)\n```\n/g)].map(
  ([whole, name = "", language = "", text = ""]) => ({
    name,
    line: page.slice(0, page.indexOf(whole)).split("\n").length,
    frames: language === "json" ? [text] : text.split("\n"),
  }),
);

const servers = new Map<string, Promise<Server>>();
const held = new Map<string, Promise<readonly Said[]>>();

afterAll(async () => {
  for (const server of servers.values()) await (await server).remove();
});

/** Each conversation runs once, those of one server in sequence. */
function hold(name: string): Promise<readonly Said[]> {
  const [kind = ""] = name.split("-");
  for (const [each, conversation] of Object.entries(conversations)) {
    if (!each.startsWith(`${kind}-`) || held.has(each)) continue;
    const server = servers.get(kind) ?? serverOf(kind);
    const before = [...held].filter(([other]) => other.startsWith(`${kind}-`)).map(([, talk]) => talk);
    servers.set(kind, server);
    held.set(
      each,
      Promise.allSettled(before).then(async () => conversation(await server)),
    );
  }
  return held.get(name) ?? Promise.reject(new Error(`there is no conversation "${name}"`));
}

describe.concurrent("the page matches the server", () => {
  it.for(shown)(`${path}:$line, $name`, async ({ name, frames }, { expect }) => {
    const said = await hold(name);
    let from = 0;
    for (const text of frames) {
      const wanted: unknown = JSON.parse(text);
      const found = said.findIndex(({ frame }, at) => at >= from && resembles(wanted, frame));
      const all = said.slice(from).map(({ frame }) => JSON.stringify(frame));
      expect(found, [text, "is not among", ...all].join("\n")).toBeGreaterThanOrEqual(from);
      from = found + 1;
    }
  });

  it.for(Object.keys(conversations))("every frame of %s fits the schema", async (name, { expect }) => {
    const { $defs } = interactiveSchema() as { readonly $defs: object };
    const fits = new Ajv2020({ strict: false }).compile({ $ref: "#/$defs/server", $defs });
    const misfits = (await hold(name)).filter(({ by, frame }) => by === "tinman" && !fits(frame));
    expect(misfits).toEqual([]);
  });
});

it("shows part of every conversation", () => {
  const names = new Set(shown.map(({ name }) => name));
  expect(Object.keys(conversations).filter((name) => !names.has(name))).toEqual([]);
});

/** The table rows of a section, as cells. */
function rows(heading: string): readonly (readonly string[])[] {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /)[0] ?? "";
  return [...section.matchAll(/^\| (?!---)(.*) \|$/gm)].map(([, row = ""]) => row.split(" | "));
}
const words = (cell = ""): readonly string[] => [...cell.matchAll(/`([\w-]+)`/g)].map((match) => match[1] ?? "");
const firsts = (heading: string): readonly string[] => rows(heading).flatMap(([cell]) => words(cell));

describe("the page names everything", () => {
  const named = new Set([...page.matchAll(/`(?:[\w.]+\.)?(\w+)`/g)].map((match) => match[1]));

  it("the methods, in a table and with a section each", () => {
    const methods = Object.keys(interactiveParams);
    const sections = [...page.matchAll(/^### (\w+)$/gm)].map((match) => match[1]);
    expect([firsts("Methods").slice(0, methods.length), sections]).toEqual([methods, methods]);
  });

  it("the notifications", () => {
    expect(firsts("Notifications").filter((word) => /^[A-Z]/.test(word))).toEqual(
      Object.keys(interactiveNotifications),
    );
  });

  it("the members of params, results and notifications", () => {
    const { $defs } = interactiveSchema() as { readonly $defs: object };
    const members = new Set<string>();
    JSON.stringify($defs, (key, value: unknown) => {
      if (key === "properties" && typeof value === "object")
        for (const name of Object.keys(value ?? {})) members.add(name);
      return value;
    });
    // The text names JSON-RPC's own, and frames show those of capabilities and listSessions.
    const { capabilities, listSessions } = interactiveResults;
    const inFrames = [
      ...Object.keys(capabilities.shape),
      ...Object.keys(capabilities.shape.server.shape),
      ...Object.keys(capabilities.shape.toolExecution.shape),
      ...Object.keys(capabilities.shape.models.element.shape),
      ...Object.keys(listSessions.shape.sessions.element.shape),
    ];
    for (const name of inFrames) expect(page).toContain(`"${name}"`);
    const rest = [...members].filter((name) => !inFrames.includes(name) && !["jsonrpc", "error"].includes(name));
    expect(rest.filter((name) => !named.has(name))).toEqual([]);
  });

  it("how answers end", () => {
    const ends = rows("Statuses and reasons").flatMap(([cell = ""]) => (/^`\w+`$/.test(cell) ? words(cell) : []));
    expect(ends.slice(-answerEnds.length).toSorted()).toEqual([...answerEnds].toSorted());
  });

  it("the codes and reasons of errors", () => {
    const table = rows("Errors");
    const codes = table.flatMap(([code = "", message]) =>
      /^-\d+$/.test(code) ? [[Number(code), words(message)]] : [],
    );
    expect(codes.map(([code]) => code)).toEqual([...Object.values(rpcErrors).map(({ code }) => code), refusedCode]);
    const source = readdirSync("src/frontends/interactive")
      .map((name) => readFileSync(`src/frontends/interactive/${name}`, "utf8"))
      .join("\n");
    const made = new Set([...source.matchAll(/\b(?:badParams|unusable|refused)\("(\w+)"/g)].map((match) => match[1]));
    const reasons = table.flatMap(([cell = "", code = ""]) => (code.startsWith("-32") ? words(cell) : []));
    expect(reasons.toSorted()).toEqual([...new Set([...made, ...denialReasons])].toSorted());
  });
});

it.each([
  ["client.mjs", "mjs"],
  ["client.py", "python"],
])("%s on the page equals the example", (name, language) => {
  const text = readFileSync(`examples/interactive/${name}`, "utf8");
  expect(page).toContain(`<!-- file: ${name} -->\n\`\`\`${language}\n${text}\`\`\`\n`);
});
