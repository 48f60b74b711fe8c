import type { PermissionOption, ToolCallContent } from "@agentclientprotocol/sdk";
import { terminalText } from "../../core/terminal-text.ts";
import type { PermissionRequest, PlanRequest } from "../../sdk/api.ts";
import type { PermissionOption as BackendOption, PermissionCall } from "../../sdk/types.ts";
import type { Client } from "./client.ts";
import { fenced, shownTitle, textContent } from "./tool-view.ts";
import type { Translator } from "./translate.ts";

/*
 * Who is asked decides, and nobody else: the policy is the backend's. What is not an offered option is a no, and so is
 * whatever goes wrong on the way, because a handler that throws is answered `cancel`.
 */

const cancel = "cancel";

const lasting = /^proceed_(always|auto_run)(_|$)/;

/** They need a text that no option can carry, or lead to a session that the client does not know. */
const unusable = /^proceed_(edit|new_session)(_|$)/;

/** Clients may choose by kind alone, so an option that is not known is never one that allows. */
function kindOf(value: string): PermissionOption["kind"] {
  if (value === "proceed_once") return "allow_once";
  return lasting.test(value) ? "allow_always" : "reject_once";
}

export function optionsOf(options: readonly BackendOption[]): readonly PermissionOption[] {
  const offered = options
    .filter(({ value }) => !unusable.test(value))
    .map(({ value, label }) => ({ optionId: value, name: shownTitle(label), kind: kindOf(value) }));
  const hasNo = offered.some(({ kind }) => kind === "reject_once");
  return hasNo ? offered : [...offered, { optionId: cancel, name: "No", kind: "reject_once" }];
}

/** One request for each call, so that each is seen where it stands. One answer is for all: the least of theirs. */
export async function askPermission(
  request: PermissionRequest,
  { client, translator, sessionId }: Asking,
): Promise<string> {
  const options = optionsOf(request.options);
  const answers: string[] = [];
  for (const call of request.calls) {
    const { content: view = [], ...toolCall } = translator.asked(call);
    const content = [...(view ?? []), ...explained(call)];
    request.signal.throwIfAborted();
    const answer = await client.choose(sessionId, { ...toolCall, content }, options, request.signal);
    const chosen = options.find(({ optionId }) => optionId === answer);
    if (chosen === undefined) return cancel;
    if (!chosen.kind.startsWith("allow")) return chosen.optionId;
    answers.push(chosen.optionId);
  }
  const [first = cancel] = answers;
  return answers.every((answer) => answer === first) ? first : "proceed_once";
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
      : [textContent(`Alternatives:\n${alternatives.map((name) => `- ${name}`).join("\n")}`)]),
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

/** What a diff does not show: the whole command, and why it is asked about. */
function explained({ name, details }: PermissionCall): readonly ToolCallContent[] {
  switch (details.type) {
    case "exec": {
      const { fullCommand, riskLevelReason, impactLevel } = details;
      const why = riskLevelReason ?? `${name} has ${impactLevel} impact.`;
      return [textContent(`${fenced(terminalText(fullCommand))}\n\n${why}`)];
    }
    case "create":
    case "edit":
    case "apply_patch":
    case "exit_spec_mode":
      return [];
    default:
      return [textContent(fenced(JSON.stringify(details, null, 2), "json"))];
  }
}
