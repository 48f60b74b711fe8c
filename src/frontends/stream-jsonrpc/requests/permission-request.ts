import type { Interaction } from "../../../engine/interaction.ts";
import { type Decision, type FileChange, levelToAlwaysAllow, type Preview } from "../../../engine/permission.ts";
import type {
  AskUserParams,
  PermissionDetails,
  PermissionOption,
  PermissionToolUse,
  RequestPermissionParams,
} from "../../../protocol/droid/server-requests.ts";
import { terminalLine } from "../../../text/terminal-text.ts";
import { textStart } from "../../../text/text-cut.ts";
import { objectInput } from "../notifications/tool-input.ts";
import { toolUse } from "../notifications/wire-messages.ts";

type PermissionInteraction = Interaction & { kind: "permission" };
type PlanInteraction = Interaction & { kind: "plan" };
type AskedCall = PermissionInteraction["calls"][number];
type Level = NonNullable<Decision["always"]>;

/** Length limit for calls of tools without specific details. */
const maxShownCall = 2_000;

/** Inputs shown as resolved paths. */
const pathKeys: ReadonlySet<string> = new Set(["file_path", "directory_path", "path", "folder"]);

const amber = "#E3992A";
const red = "#E54048";
const cross = "✕ ";

export function permissionParams(
  interaction: PermissionInteraction | PlanInteraction,
  { knowsViolations }: { readonly knowsViolations: boolean },
): RequestPermissionParams {
  if (interaction.kind === "plan") return planParams(interaction);
  const { calls } = interaction;
  return { toolUses: calls.map((asked) => askedCall(asked, knowsViolations)), options: callOptions(calls) };
}

export function questionParams(interaction: Interaction & { kind: "question" }): AskUserParams {
  const questions = interaction.questions.map(({ index, topic, question, options }) => {
    return { index, topic, question, options: [...options] };
  });
  return { toolCallId: interaction.callId, questions };
}

export function offersAlways(calls: readonly AskedCall[]): boolean {
  return alwaysLevel(calls) !== undefined;
}

function alwaysLevel(calls: readonly AskedCall[]): Level | undefined {
  return levelToAlwaysAllow(calls.map(({ decision }) => decision));
}

function askedCall(asked: AskedCall, knowsViolations: boolean): PermissionToolUse {
  const known = detailsOf(asked);
  const isLeaving = knowsViolations && asked.decision.rule === "leaves-sandbox";
  const details = known.type === "exec" && isLeaving ? violation(known, asked) : known;
  return { toolUse: toolUse(asked.call), confirmationType: details.type, details };
}

function violation({ type: _, ...command }: PermissionDetails & { type: "exec" }, asked: AskedCall): PermissionDetails {
  return {
    type: "sandbox_violation",
    violatingToolName: asked.call.name,
    target: command.fullCommand,
    operationType: "tool",
    violationType: "tool",
    reason: terminalLine(asked.decision.why),
    violationReason: "not-allowed",
    isOrgDeny: false,
    ...command,
  };
}

function detailsOf({ call, decision, preview }: AskedCall): PermissionDetails {
  const rated = { impactLevel: decision.impact, riskLevelReason: terminalLine(decision.why) };
  switch (preview?.type) {
    case "command": {
      const extractedCommands = [...decision.extractedCommands];
      const command = extractedCommands.length === 0 ? call.name : extractedCommands.join(", ");
      const { contained } = decision;
      const where = contained === undefined ? {} : { contained };
      return { type: "exec", fullCommand: preview.command, command, extractedCommands, ...rated, ...where };
    }
    case "create":
      return {
        type: "create",
        ...fileOf(preview.path),
        content: preview.content,
        ...(preview.oldContent === undefined ? {} : { oldContent: preview.oldContent }),
      };
    case "edit":
      return { type: "edit", ...fileOf(preview.path), ...contentsOf(preview) };
    case "patch": {
      const [first] = preview.files;
      return {
        type: "apply_patch",
        ...fileOf(first?.path ?? ""),
        patchContent: preview.patch,
        ...contentsOf(first ?? {}),
        files: preview.files.map((file) => ({
          change: file.change,
          ...fileOf(file.path),
          ...contentsOf(file),
          ...(file.movedTo === undefined ? {} : { movedTo: written(file.movedTo) }),
        })),
      };
    }
    default: {
      const fullCommand = shownCall(call.name, preview?.type === "server" ? undefined : preview, call.input);
      return { type: "exec", fullCommand, command: call.name, extractedCommands: [call.name], ...rated };
    }
  }
}

function fileOf(path: string): { filePath: string; fileName: string } {
  const name = path.split(/[\\/]/).findLast((part) => part !== "") ?? path;
  return { filePath: written(path), fileName: written(name) };
}

/** Invisible characters are escaped, including line ends: a space could pass for one in the name. */
function written(text: string): string {
  return terminalLine(text.replace(/[\t\n\r]/g, (end) => `\\u{${end.charCodeAt(0).toString(16)}}`));
}

function contentsOf({ oldContent, newContent }: Pick<FileChange, "oldContent" | "newContent">) {
  return {
    ...(oldContent === undefined ? {} : { oldContent }),
    ...(newContent === undefined ? {} : { newContent }),
  };
}

/**
 * A call for a person, starting with what it touches. Addresses are never shortened, because they can carry data away.
 */
function shownCall(name: string, preview: (Preview & { type: "fetch" | "paths" }) | undefined, input: unknown): string {
  if (preview?.type === "fetch") return terminalLine(`${name} ${preview.url}`);
  const rest = Object.entries(objectInput(input)).filter(([key]) => preview === undefined || !pathKeys.has(key));
  const words = [
    name,
    ...(preview === undefined ? [] : [preview.paths.join(", ")]),
    ...(rest.length === 0 ? [] : [JSON.stringify(Object.fromEntries(rest))]),
  ];
  const shown = written(words.join(" "));
  const more = shown.length - maxShownCall;
  return more > 0 ? `${textStart(shown, maxShownCall)}… (${more} more characters)` : shown;
}

const alwaysAllowed: Readonly<Record<Level, string>> = {
  low: "low impact commands (file edits and read-only commands)",
  medium: "medium impact commands (all commands that are reversible)",
  high: "high impact commands (all commands)",
};

function callOptions(calls: readonly AskedCall[]): PermissionOption[] {
  const all = calls.length > 1 ? " all" : "";
  const level = alwaysLevel(calls);
  const always = level === undefined ? [] : [`Yes, and always allow ${alwaysAllowed[level]}`];
  return [
    { label: `Yes, allow${all}`, value: "proceed_once", selectedColor: amber },
    ...always.map((label) => ({ label, value: "proceed_always", selectedColor: amber }) as const),
    { label: `No, cancel${all}`, value: "cancel", selectedColor: red, selectedPrefix: cross },
  ];
}

function planParams({ callId, plan, title, optionNames }: PlanInteraction): RequestPermissionParams {
  const planned = {
    plan,
    ...(title === undefined ? {} : { title }),
    ...(optionNames === undefined ? {} : { optionNames: [...optionNames] }),
  };
  return {
    toolUses: [
      {
        toolUse: { type: "tool_use", id: callId, name: "ExitSpecMode", input: planned },
        confirmationType: "exit_spec_mode",
        details: { type: "exit_spec_mode", ...planned },
      },
    ],
    options: [
      { label: "Proceed with implementation", value: "proceed_once", selectedColor: amber },
      {
        label: "Proceed, and allow file edits and read-only commands (Low)",
        value: "proceed_auto_run_low",
        selectedColor: amber,
      },
      {
        label: "Proceed, and allow reversible commands (Medium)",
        value: "proceed_auto_run_medium",
        selectedColor: amber,
      },
      { label: "Proceed, and allow all commands (High)", value: "proceed_auto_run_high", selectedColor: red },
      { label: "No, keep iterating on spec", value: "cancel", selectedColor: red, selectedPrefix: cross },
    ],
  };
}
