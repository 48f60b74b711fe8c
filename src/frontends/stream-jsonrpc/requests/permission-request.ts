import type { Interaction } from "../../../engine/interaction.ts";
import type { FileChange, Preview } from "../../../engine/permission.ts";
import type {
  AskUserParams,
  PermissionDetails,
  PermissionToolUse,
  RequestPermissionParams,
} from "../../../protocol/droid/server-requests.ts";
import { terminalLine } from "../../../text/terminal-text.ts";
import { textStart } from "../../../text/text-cut.ts";
import type { Vocabulary } from "../dialect.ts";
import { objectInput } from "../notifications/tool-input.ts";
import { toolUse } from "../notifications/wire-messages.ts";
import { type AskedCall, callOptions, planOptions } from "./permission-options.ts";

type PermissionInteraction = Interaction & { kind: "permission" };
type PlanInteraction = Interaction & { kind: "plan" };

/** Length limit for calls of tools without specific details. */
const maxShownCall = 2_000;

/** Inputs shown as resolved paths. */
const pathKeys: ReadonlySet<string> = new Set(["file_path", "directory_path", "path", "folder"]);

export function permissionParams(
  interaction: PermissionInteraction | PlanInteraction,
  { vocabulary }: { readonly vocabulary: Vocabulary },
): RequestPermissionParams {
  if (interaction.kind === "plan") return planParams(interaction);
  const { calls } = interaction;
  return {
    toolUses: calls.map((asked) => askedCall(asked, vocabulary.violations)),
    options: callOptions(calls, vocabulary),
  };
}

export function questionParams(interaction: Interaction & { kind: "question" }): AskUserParams {
  const questions = interaction.questions.map(({ index, topic, question, options }) => {
    return { index, topic, question, options: [...options] };
  });
  return { toolCallId: interaction.callId, questions };
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
  if (decision.server !== undefined) {
    const { server, tool } = decision.server;
    return {
      type: "mcp_tool",
      toolName: written(call.name),
      serverName: written(server),
      actualToolName: written(tool),
      ...rated,
    };
  }
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
    options: planOptions,
  };
}
