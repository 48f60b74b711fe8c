import type { Interaction } from "../../core/interaction.ts";
import type { FileChange } from "../../core/permission.ts";
import type {
  AskUserParams,
  PermissionDetails,
  PermissionOption,
  PermissionToolUse,
  RequestPermissionParams,
} from "../../protocol/droid/server-requests.ts";
import { objectInput } from "./tool-input.ts";
import { toolUse } from "./wire-messages.ts";

type PermissionInteraction = Interaction & { kind: "permission" };
type PlanInteraction = Interaction & { kind: "plan" };
type AskedCall = PermissionInteraction["calls"][number];
type Impact = AskedCall["decision"]["impact"];

/** Inputs of tools that have no details of their own are shown up to this length. */
const maxShownInput = 2_000;

const amber = "#E3992A";
const red = "#E54048";
const cross = "✕ ";

export function permissionParams(interaction: PermissionInteraction | PlanInteraction): RequestPermissionParams {
  if (interaction.kind === "plan") return planParams(interaction);
  return { toolUses: interaction.calls.map(askedCall), options: callOptions(interaction.calls) };
}

export function questionParams(interaction: Interaction & { kind: "question" }): AskUserParams {
  const questions = interaction.questions.map(({ index, topic, question, options }) => {
    return { index, topic, question, options: [...options] };
  });
  return { toolCallId: interaction.callId, questions };
}

/** Nothing is allowed for good that touches a protected place: it needs a yes of its own each time. */
export function offersAlways(calls: readonly AskedCall[]): boolean {
  return calls.every(({ decision }) => decision.rule !== "protected-place");
}

function askedCall(asked: AskedCall): PermissionToolUse {
  const details = detailsOf(asked);
  return { toolUse: toolUse(asked.call), confirmationType: details.type, details };
}

function detailsOf({ call, decision, preview }: AskedCall): PermissionDetails {
  const { impact: impactLevel } = decision;
  switch (preview?.type) {
    case "command": {
      const extractedCommands = [...decision.extractedCommands];
      const command = extractedCommands.length === 0 ? call.name : extractedCommands.join(", ");
      return { type: "exec", fullCommand: preview.command, command, extractedCommands, impactLevel };
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
          ...(file.movedTo === undefined ? {} : { movedTo: file.movedTo }),
        })),
      };
    }
    default: {
      const fullCommand = `${call.name} ${preview?.url ?? targetOf(call.input)}`;
      return { type: "exec", fullCommand, command: call.name, extractedCommands: [call.name], impactLevel };
    }
  }
}

function fileOf(path: string): { filePath: string; fileName: string } {
  return { filePath: path, fileName: path.split(/[\\/]/).findLast((part) => part !== "") ?? path };
}

function contentsOf({ oldContent, newContent }: Pick<FileChange, "oldContent" | "newContent">) {
  return {
    ...(oldContent === undefined ? {} : { oldContent }),
    ...(newContent === undefined ? {} : { newContent }),
  };
}

/** What a call is about, for a person. */
function targetOf(input: unknown): string {
  const { url, file_path: file, directory_path: folder } = objectInput(input);
  for (const target of [url, file, folder]) if (typeof target === "string") return target;
  return (JSON.stringify(input) ?? "").slice(0, maxShownInput).toWellFormed();
}

const alwaysAllowed: Readonly<Record<Impact, string>> = {
  low: "low impact commands (file edits and read-only commands)",
  medium: "medium impact commands (all commands that are reversible)",
  high: "high impact commands (all commands)",
};

function callOptions(calls: readonly AskedCall[]): PermissionOption[] {
  const all = calls.length > 1 ? " all" : "";
  const always = `Yes, and always allow ${alwaysAllowed[highestImpact(calls)]}`;
  return [
    { label: `Yes, allow${all}`, value: "proceed_once", selectedColor: amber },
    ...(offersAlways(calls) ? [{ label: always, value: "proceed_always", selectedColor: amber } as const] : []),
    { label: `No, cancel${all}`, value: "cancel", selectedColor: red, selectedPrefix: cross },
  ];
}

function highestImpact(calls: readonly AskedCall[]): Impact {
  const impacts = new Set(calls.map(({ decision }) => decision.impact));
  if (impacts.has("high")) return "high";
  return impacts.has("medium") ? "medium" : "low";
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
