import { relative, resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { terminalLine } from "../../core/terminal-text.ts";
import { diffsOfInput, patchedFiles, patchOf } from "./diffs.ts";

type Input = Readonly<Record<string, unknown>>;

/** How an editor shows a call: what it does in a few words, and where. */
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

/** A title is one line; what it leaves out is in the content, or in the input. */
const longestTitle = 300;

/** `replaced` is what was in the file that the call writes as a whole, if it is known. */
export function viewOf(name: string, input: Input, cwd: string, replaced?: string): ToolView {
  const paths = pathsOf(name, input);
  const line = name === "Read" && typeof input.offset === "number" ? { line: input.offset } : {};
  return {
    title: shownTitle(titleOf(name, input, cwd, paths)),
    kind: Object.hasOwn(kinds, name) ? (kinds[name] ?? "other") : "other",
    locations: paths.map((path) => ({ path: resolve(cwd, path), ...line })),
    content: [
      ...diffsOfInput(name, input, cwd, replaced).map((diff) => ({ type: "diff", ...diff }) as const),
      ...(name === "ExitSpecMode" && isText(input.plan) ? [textContent(input.plan)] : []),
    ],
  };
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** As it may stand in the middle of Markdown, whatever is in it. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function titleOf(name: string, input: Input, cwd: string, paths: readonly string[]): string {
  const shown = paths.map((path) => shownPath(path, cwd));
  const files = shown.length > 0 ? shown.join(", ") : "a file";
  const text = (key: string): string | undefined => (isText(input[key]) ? (input[key] as string) : undefined);
  switch (name) {
    case "Read":
      return `Read ${files}`;
    case "LS":
      return `List ${shown[0] ?? "the folder"}`;
    case "Grep":
      return `Search for ${text("pattern") ?? "a pattern"}${shown.length > 0 ? ` in ${files}` : ""}`;
    case "Glob":
      return `Find ${[input.patterns ?? []].flat().join(", ") || "files"}`;
    case "Edit":
    case "MultiEdit":
      return `Edit ${files}`;
    case "Create":
    case "Write":
      return `Create ${files}`;
    case "ApplyPatch":
      return `Patch ${files}`;
    case "Execute":
      return text("command") ?? "Run a command";
    case "FetchUrl":
      return `Fetch ${text("url") ?? "a page"}`;
    case "WebSearch":
      return `Search the web for ${text("query") ?? "something"}`;
    case "Task":
      return text("description") ?? "Give a task to another agent";
    case "TodoWrite":
      return "Update the plan";
    case "AskUser":
      return "Ask a question";
    case "ExitSpecMode":
      return text("title") ?? "Propose a plan";
    default:
      return Object.keys(input).length === 0 ? name : `${name} ${JSON.stringify(input)}`;
  }
}

function pathsOf(name: string, input: Input): readonly string[] {
  const paths = [input.file_path, input.directory_path, input.folder, name === "Grep" ? input.path : undefined];
  const named = paths.filter(isText).filter((path) => path !== "");
  return name === "ApplyPatch" ? patchedFiles(patchOf(input)).map(({ path }) => path) : named;
}

/** From the folder that is worked in, where it is inside. */
function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, resolve(cwd, path));
  return inside === "" ? "." : inside.startsWith("..") ? resolve(cwd, path) : inside;
}

/** What somebody decides by must be seen as it is: see `terminalLine`. */
export function shownTitle(title: string): string {
  // Cut before anything is written out, so that no half of an escape is left, nor of a character.
  const start = title.slice(0, longestTitle).replace(/[\ud800-\udbff]$/, "");
  return terminalLine(title.length > start.length ? `${start}…` : title);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
