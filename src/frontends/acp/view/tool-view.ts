import { relative } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { PermissionCall } from "../../../sdk/types.ts";
import { isText } from "../../../text/values.ts";
import { type Changes, changesOfDetails, changesOfInput, placeOf } from "./diffs.ts";
import { shownTitle, textContent } from "./shown-text.ts";

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

/** `replaced` is what was in the file that the call writes as a whole, if it is known. */
export function viewOf(name: string, input: Input, cwd: string, replaced?: string): ToolView {
  return viewWith(changesOfInput(name, input, cwd, replaced), name, input, cwd);
}

/** Of a call that somebody is asked about: what the request says of it counts. */
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

/** Counted from 1, as editors do; the tool is told how many lines to leave out. */
function lineOf(name: string, { offset }: Input): { line?: number } {
  return name === "Read" && Number.isSafeInteger(offset) && Number(offset) >= 0 ? { line: Number(offset) + 1 } : {};
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
      return `Find ${[input.patterns ?? []].flat().filter(isText).join(", ") || "files"}`;
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

function pathsIn(name: string, input: Input): readonly string[] {
  const paths = [input.file_path, input.directory_path, input.folder, name === "Grep" ? input.path : undefined];
  return paths.filter(isText).filter((path) => path !== "");
}

/** From the folder that is worked in, where it is inside. */
function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, placeOf(path, cwd));
  return inside === "" ? "." : inside.startsWith("..") ? placeOf(path, cwd) : inside;
}
