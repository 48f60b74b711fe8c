import type { PermissionOption, ToolCallContent } from "@agentclientprotocol/sdk";
import type { PermissionRequest, PlanRequest } from "../../../sdk/api.ts";
import type { PermissionOption as BackendOption, PermissionCall } from "../../../sdk/types.ts";
import type { Client } from "../client.ts";
import type { Translator } from "../view/acp-updates.ts";
import { fenced, plainLine, shownTitle, textContent } from "../view/shown-text.ts";

/**
 * The user decides; the policy is the backend's. Everything but an offered option means no, including failures: the
 * backend would read an exception as `cancel`.
 */

const cancel = "cancel";

const lasting = /^proceed_(always|auto_run)(_|$)/;

/** Options that need a text from the user, or switch to a session that the client doesn't know. */
const unusable = /^proceed_(edit|new_session)(_|$)/;

/** Undefined for unknown options: some clients choose by kind alone, and an unknown option could be a yes. */
function kindOf(value: string): PermissionOption["kind"] | undefined {
  if (value === "proceed_once") return "allow_once";
  if (value === cancel) return "reject_once";
  return lasting.test(value) && !unusable.test(value) ? "allow_always" : undefined;
}

/** The known options without duplicates. "No" is always among them. */
export function optionsOf(options: readonly BackendOption[]): readonly PermissionOption[] {
  const offered = new Map<string, PermissionOption>();
  for (const { value, label } of [...options, { value: cancel, label: "No" }]) {
    const kind = kindOf(value);
    if (kind !== undefined && !offered.has(value))
      offered.set(value, { optionId: value, name: shownTitle(label), kind });
  }
  return [...offered.values()];
}

/** One of several calls can only be allowed once: "always" would need the same answer for all of them. */
function optionsOfOne(options: readonly PermissionOption[], nth: number, count: number): readonly PermissionOption[] {
  if (count === 1) return options;
  return options
    .filter(({ kind }) => kind !== "allow_always")
    .map((option) =>
      option.kind === "allow_once" ? { ...option, name: `Yes, allow this one (${nth} of ${count})` } : option,
    );
}

/** One request per call, so that each is shown in its place. They run when all are allowed. */
export async function askPermission(
  request: PermissionRequest,
  { client, translator, sessionId }: Asking,
): Promise<string> {
  const { calls } = request;
  const all = optionsOf(request.options);
  let answer = cancel;
  // Calls with the same id cannot be distinguished.
  if (new Set(calls.map(({ id }) => id)).size < calls.length) return cancel;
  for (const [index, call] of calls.entries()) {
    const options = optionsOfOne(all, index + 1, calls.length);
    const { content: view = [], ...toolCall } = translator.asked(call);
    const content = [...(view ?? []), ...explained(call)];
    request.signal.throwIfAborted();
    const chosen = await client.choose(sessionId, { ...toolCall, content }, options, request.signal);
    answer = options.find(({ optionId }) => optionId === chosen)?.optionId ?? cancel;
    if (answer === cancel) return cancel;
  }
  return answer;
}

export async function askForPlan(
  { id, plan, title, alternatives, options, signal }: PlanRequest,
  { client, translator, sessionId }: Asking,
): Promise<string> {
  const offered = optionsOf(options);
  const content = [
    textContent(plan),
    ...(alternatives.length === 0
      ? []
      : [textContent(`Alternatives:\n${alternatives.map((name) => `- ${plainLine(name)}`).join("\n")}`)]),
  ];
  const toolCall = {
    toolCallId: translator.openCallOf("ExitSpecMode") ?? id,
    title: shownTitle(title ?? "Proposed plan"),
    kind: "switch_mode",
    status: "pending",
    content,
  } as const;
  const answer = await client.choose(sessionId, toolCall, offered, signal);
  return offered.some(({ optionId }) => optionId === answer) ? (answer ?? cancel) : cancel;
}

export interface Asking {
  readonly client: Client;
  readonly translator: Translator;
  readonly sessionId: string;
}

const inSandbox = "It runs in the sandbox.";
const outsideSandbox = "It runs outside the sandbox, with all your rights.";

/** The text beside the diff: the whole command, and why it needs permission. */
function explained({ name, input, details }: PermissionCall): readonly ToolCallContent[] {
  switch (details.type) {
    case "exec":
    case "sandbox_violation": {
      const isLeaving = details.type === "sandbox_violation";
      const { fullCommand = isLeaving ? details.target : "", contained = isLeaving ? false : undefined } = details;
      const reason = isLeaving ? details.reason : details.riskLevelReason;
      const { command } = input;
      const isOther = name === "Execute" && typeof command === "string" && command !== fullCommand;
      return [
        textContent(fenced(fullCommand)),
        ...(isOther ? [textContent(`The call itself contains a different command:\n${fenced(command)}`)] : []),
        ...(reason === undefined ? [] : [textContent(plainLine(reason))]),
        ...(contained === undefined ? [] : [textContent(contained ? inSandbox : outsideSandbox)]),
      ];
    }
    case "create":
    case "edit":
    case "apply_patch":
    case "exit_spec_mode":
      return [];
    case "mcp_tool": {
      const { toolName, actualToolName = toolName, serverName, riskLevelReason } = details;
      const of = serverName === undefined ? "an MCP server" : `the MCP server ${plainLine(serverName)}`;
      return [
        textContent(`The tool ${plainLine(actualToolName)} of ${of}, with:`),
        textContent(fenced(JSON.stringify(input, null, 2))),
        ...(riskLevelReason === undefined ? [] : [textContent(plainLine(riskLevelReason))]),
      ];
    }
    default:
      return [textContent(fenced(JSON.stringify(details, null, 2)))];
  }
}
