import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Tool } from "../../src/engine/tool.ts";
import { builtinTools } from "../../src/tools/all.ts";
import { toolJsonSchema } from "../../src/tools/json-schema.ts";
import parameters from "../../src/tools/parameters.json" with { type: "json" };
import { markOf } from "../../src/tools/seen-files.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { createContext, decidedCall } from "./call.ts";

const named = (name: string) => {
  const tool = builtinTools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
};

describe("the built-in tools", () => {
  it("are described by their own schemas, and a copy of one by the schema derived from its input", async () => {
    const schemas = async (tools: readonly Tool[]) =>
      Object.fromEntries(await Promise.all(tools.map(async (tool) => [tool.name, await toolJsonSchema(tool)])));
    const text = JSON.stringify(parameters);
    // Byte by byte: a provider's cache must hit.
    expect(JSON.stringify(await schemas(builtinTools))).toBe(text);
    expect(JSON.stringify(await schemas(builtinTools.map((tool) => ({ ...tool }))))).toBe(text);
  });

  it("run in parallel only if they change nothing", () => {
    const changing = builtinTools.filter(({ kind }) => kind !== "read" && kind !== "fetch");
    expect(changing.filter((tool) => tool.concurrent)).toEqual([]);
    expect(named("Read").concurrent).toBe(true);
  });

  it("each have a section of docs/tools.md, which names every parameter", () => {
    const sections = readFileSync("docs/tools.md", "utf8").split("\n## ");
    for (const [name, schema] of Object.entries(parameters)) {
      const section = sections.find((text) => text.startsWith(`${name}\n`)) ?? "";
      const unnamed = Object.keys(schema.properties).filter((key) => !section.includes(`\`${key}\``));
      expect({ name, isThere: section !== "", unnamed }).toEqual({ name, isThere: true, unnamed: [] });
    }
  });

  it("each have a description that names every parameter", () => {
    expect(new Set(builtinTools.map((tool) => tool.description)).size).toBe(
      readdirSync(new URL("../../src/tools/descriptions", import.meta.url)).length,
    );
    for (const [name, schema] of Object.entries(parameters)) {
      const unnamed = Object.keys(schema.properties).filter((key) => !named(name).description.includes(`\`${key}\``));
      expect({ name, unnamed }).toEqual({ name, unnamed: [] });
    }
  });

  it("report missing arguments in words that a model understands", async () => {
    const names = ["Read", "Create", "Edit", "Execute", "Grep", "Glob", "TodoWrite", "AskUser", "ExitSpecMode"];
    const messages = await Promise.all(
      names.map(async (name) => (await named(name).load()).input.safeParse({}).error?.issues[0]?.message),
    );
    expect(messages).toEqual([
      "file_path is required and must be a string",
      "file_path is required and must be a string",
      "file_path is required and must be a string",
      "command is required and must be a string",
      "pattern is required and must be a string",
      "patterns must be a pattern or a list of patterns",
      "todos is required and must be a string: one task a line",
      "questionnaire is required and must be a string",
      "plan is required and must be a string",
    ]);
  });

  it("resolve links before a decision", async () => {
    const host = createMemoryHost(
      { "/elsewhere/a.txt": "a", "/project/b.txt": "b" },
      { links: { "/project/out": "/elsewhere" } },
    );
    const scope = createContext(host);
    const accesses = async (name: string, given: unknown) => {
      const { input, access } = await named(name).load();
      return access(input.parse(given), scope);
    };
    expect(await accesses("Read", { file_path: "out/a.txt" })).toEqual([
      { type: "read", path: "/elsewhere/a.txt", written: "/project/out/a.txt" },
    ]);
    expect(await accesses("LS", {})).toEqual([{ type: "read", path: "/project" }]);
    expect(await accesses("LS", { directory_path: "out" })).toEqual([
      { type: "read", path: "/elsewhere", written: "/project/out" },
    ]);
    expect(await accesses("Grep", { pattern: "x", path: "out" })).toEqual([
      { type: "read", path: "/elsewhere", written: "/project/out" },
    ]);
    expect(await accesses("Glob", { patterns: "*", folder: "../project" })).toEqual([
      { type: "read", path: "/project" },
    ]);
    expect(await accesses("Create", { file_path: "out/new/c.txt", content: "" })).toEqual([
      { type: "write", path: "/elsewhere/new/c.txt", written: "/project/out/new/c.txt" },
    ]);
    expect(await accesses("Edit", { file_path: "/project/b.txt", old_str: "b", new_str: "c" })).toEqual([
      { type: "read", path: "/project/b.txt" },
      { type: "write", path: "/project/b.txt" },
    ]);
    for (const [name, input] of [
      ["TodoWrite", { todos: "x" }],
      ["AskUser", { questionnaire: "x" }],
      ["ExitSpecMode", { plan: "x" }],
    ] as const)
      expect(await accesses(name, input)).toEqual([]);
  });

  it("still name an unresolvable path, and fail on it when they run", async () => {
    const host = createMemoryHost({ "/project/a": "" }, { links: { "/project/loop": "/project/loop" } });
    const read = await named("Read").load();
    const { input, accesses, context } = await decidedCall(read, { file_path: "loop" }, createContext(host));
    expect(accesses).toEqual([{ type: "read", path: "/project/loop" }]);
    expect(await read.run(input, context)).toEqual({
      status: "failed",
      text: "Error: Error reading file: ELOOP: too many symbolic links encountered, access '/project/loop'",
    });
  });

  it("do nothing if a path's target changed since the decision", async () => {
    for (const [name, given] of [
      ["Read", { file_path: "d/x" }],
      ["LS", { directory_path: "d" }],
      ["Grep", { pattern: "secret", path: "d" }],
      ["Glob", { patterns: "*", folder: "d" }],
      ["Create", { file_path: "d/x", content: "overwritten" }],
      ["Edit", { file_path: "d/x", old_str: "secret", new_str: "gone" }],
    ] as const) {
      const host = createMemoryHost({ "/etc/x": "secret" });
      const tool = await named(name).load();
      const { input, context } = await decidedCall(tool, given, createContext(host));
      context.seenFiles.set("/etc/x", await markOf("secret"));
      host.link("/project/d", "/etc");
      const output = await tool.run(input, context);
      expect({ name, status: output.status, leak: output.text.includes("secret") }).toEqual({
        name,
        status: "failed",
        leak: false,
      });
      expect(output.text).toContain("but now leads to /etc");
      expect(host.text("/etc/x")).toBe("secret");
    }
  });
});
