import type { Received } from "../fakes/rpc/wire.ts";
import type { Said } from "./conversations.ts";

/** One arrow of a diagram. */
export interface Arrow {
  readonly by: Said["by"];
  readonly label: string;
}

/** A conversation as a diagram: consecutive pieces of the same kind are one arrow. */
export function arrowsOf(said: readonly Said[]): readonly Arrow[] {
  const methods = new Map<unknown, string>();
  const arrows: Arrow[] = [];
  for (const { by, message } of said) {
    if (message.type === "request") methods.set(message.id, methodOf(message));
    const arrow = { by, label: labelOf(message, methods) };
    const last = arrows.at(-1);
    if (!arrow.label.endsWith(many) || last?.label !== arrow.label) arrows.push(arrow);
  }
  return arrows;
}

/** The arrows of a drawn diagram, parsed from its lines. */
export function drawnArrows(diagram: string): readonly Arrow[] {
  return diagram.split("\n").flatMap((line) => {
    const drawn = /^ *\|(<?)-+ (.+?) -+(>?)\|$/.exec(line);
    if (drawn === null) return [];
    const [, back, label = ""] = drawn;
    return [{ by: back === "<" ? ("tinman" as const) : ("client" as const), label }];
  });
}

/** As it should be on the page. */
export function draw(arrows: readonly Arrow[]): string {
  const width = 66;
  const title = `client${" ".repeat(width - 6)}tinman`;
  const lines = arrows.map(({ by, label }) => {
    const free = Math.max(3, width - label.length - 3);
    return by === "client" ? `  |-- ${label} ${"-".repeat(free - 2)}>|` : `  |<${"-".repeat(free - 2)} ${label} --|`;
  });
  return [title, ...lines].join("\n");
}

const many = " ×n";
const pieces = new Set(["assistant_text_delta", "thinking_text_delta", "tool_call", "tool_progress_update"]);

function methodOf({ method }: Received): string {
  return method?.replace("droid.", "") ?? "";
}

function labelOf(message: Received, methods: ReadonlyMap<unknown, string>): string {
  const { type, params, result } = message;
  if (type === "request") {
    const text = params?.text === undefined ? "" : ` ${JSON.stringify(params.text)}`;
    return `${methodOf(message)}${text}${params?.messageId === undefined ? "" : ` (${params.messageId})`}`;
  }
  if (type === "response") {
    const option = typeof result?.selectedOption === "string" ? `: ${result.selectedOption}` : "";
    return `response to ${methods.get(message.id) ?? "?"}${option}`;
  }
  const notice = params?.notification ?? { type: "?" };
  if (pieces.has(notice.type)) return `${notice.type}${many}`;
  if (notice.type === "droid_working_state_changed") return `state ${notice.newState}`;
  if (notice.type === "create_message") return `create_message, ${(notice.message as { role: string }).role}`;
  if (notice.type === "permission_resolved") return `permission_resolved, ${notice.selectedOption}`;
  if (notice.type === "queued_messages_discarded") return `${notice.type} ${JSON.stringify(notice.text)}`;
  if (notice.type !== "agent_turn_completed") return notice.type;
  const turn = /^turn-/.test(String(notice.turnId)) ? ` (${notice.turnId})` : "";
  return `agent_turn_completed, ${notice.reason}${turn}`;
}
