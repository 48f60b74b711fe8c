import { relative } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { PermissionCall } from "../../../sdk/types.ts";
import { isText, textOf } from "../../../text/values.ts";
import { type Changes, changesOfDetails, changesOfInput, placeOf } from "./diffs.ts";
import { shownTitle, textContent } from "./shown-text.ts";

type Input = Readonly<Record<string, unknown>>;

/** How an editor shows a call: a short title, and the files. */
export interface ToolView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  readonly content: ToolCallContent[];
}

const kinds: Readonly<Record<string, ToolKind>> = {
  Read: "read",
  LS: "read",
  Grep: "search",
  Glob: "search",
  Edit: "edit",
  MultiEdit: "edit",
  Create: "edit",
  Write: "edit",
  ApplyPatch: "edit",
  Execute: "execute",
  FetchUrl: "fetch",
  WebSearch: "fetch",
  TodoWrite: "think",
  Task: "think",
  ExitSpecMode: "switch_mode",
};

/** `replaced` is the previous content of a file that the call overwrites. */
export function viewOf(name: string, input: Input, cwd: string, replaced?: string): ToolView {
  return viewWith(changesOfInput(name, input, cwd, replaced), name, input, cwd);
}

/** For a call that the user is asked about: the request's details take precedence. */
export function askedView({ name, input, details }: PermissionCall, cwd: string): ToolView {
  const changes = changesOfDetails(details, cwd) ?? changesOfInput(name, input, cwd);
  return viewWith(changes, name, input, cwd);
}

function viewWith(changes: Changes, name: string, input: Input, cwd: string): ToolView {
  const paths = [...new Set(changes.paths.length > 0 ? changes.paths : pathsIn(name, input))];
  return {
    title: shownTitle(titleOf(name, input, cwd, paths)),
    kind: Object.hasOwn(kinds, name) ? (kinds[name] ?? "other") : "other",
    locations: paths.map((path) => ({ path: placeOf(path, cwd), ...lineOf(name, input) })),
    content: [...changes.content, ...(name === "ExitSpecMode" && isText(input.plan) ? [textContent(input.plan)] : [])],
  };
}

/** Editors count lines from 1; the tool takes the number of lines to skip. */
function lineOf(name: string, { offset }: Input): { line?: number } {
  return name === "Read" && Number.isSafeInteger(offset) && Number(offset) >= 0 ? { line: Number(offset) + 1 } : {};
}

interface Shown {
  /** Files of the call, relative to the session's folder. */
  readonly files: readonly string[];
  readonly input: Input;
  /** The input if it is a string, otherwise the default. */
  text(key: string, otherwise: string): string;
}

const titles = new Map<string, (shown: Shown) => string>([
  ["Read", (shown) => `Read ${named(shown)}`],
  ["LS", ({ files }) => `List ${files[0] ?? "the folder"}`],
  ["Grep", (shown) => `Search for ${shown.text("pattern", "a pattern")}${inFiles(shown)}`],
  ["Glob", ({ input }) => `Find ${[input.patterns ?? []].flat().filter(isText).join(", ") || "files"}`],
  ["Edit", (shown) => `Edit ${named(shown)}`],
  ["MultiEdit", (shown) => `Edit ${named(shown)}`],
  ["Create", (shown) => `Create ${named(shown)}`],
  ["Write", (shown) => `Create ${named(shown)}`],
  ["ApplyPatch", (shown) => `Patch ${named(shown)}`],
  ["Execute", ({ text }) => text("command", "Run a command")],
  ["FetchUrl", ({ text }) => `Fetch ${text("url", "a page")}`],
  ["WebSearch", ({ text }) => `Search the web for ${text("query", "something")}`],
  ["Task", ({ text }) => text("description", "Give a task to another agent")],
  ["TodoWrite", () => "Update the plan"],
  ["AskUser", () => "Ask a question"],
  ["ExitSpecMode", ({ text }) => text("title", "Propose a plan")],
]);

function named({ files }: Shown): string {
  return files.length > 0 ? files.join(", ") : "a file";
}

function inFiles(shown: Shown): string {
  return shown.files.length > 0 ? ` in ${named(shown)}` : "";
}

function titleOf(name: string, input: Input, cwd: string, paths: readonly string[]): string {
  const title = titles.get(name);
  if (title === undefined) {
    const shown = name.replace(/^(.+?)___(?=.)/, "$1: ");
    return Object.keys(input).length === 0 ? shown : `${shown} ${JSON.stringify(input)}`;
  }
  const text = (key: string, otherwise: string): string => textOf(input[key]) ?? otherwise;
  return title({ files: paths.map((path) => shownPath(path, cwd)), input, text });
}

function pathsIn(name: string, input: Input): readonly string[] {
  const paths = [input.file_path, input.directory_path, input.folder, name === "Grep" ? input.path : undefined];
  return paths.filter(isText).filter((path) => path !== "");
}

/** Relative to the session's folder if it is inside. */
function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, placeOf(path, cwd));
  return inside === "" ? "." : inside.startsWith("..") ? placeOf(path, cwd) : inside;
}
