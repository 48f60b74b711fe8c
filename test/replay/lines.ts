import type { Received } from "../fakes/rpc/wire.ts";
import type { Line } from "./align.ts";
import type { End, Run } from "./trace.ts";
import { clientMessages } from "./trace.ts";

type Normalise = (messages: readonly Received[]) => readonly Received[];

/** The lines of a trace's server in one process, and how the process ended. */
export function theirLines({ steps, end }: Run, normalise: Normalise): readonly Line[] {
  const answers: (string | undefined)[] = [];
  const messages: Received[] = [];
  let last: string | undefined;
  for (const step of steps) {
    // Their clients wait for each response, so one without an id belongs to the last request.
    if (step.by === "client") last = idOf(clientMessages([step])[0]);
    if (step.by !== "server") continue;
    messages.push(step.message);
    answers.push(step.message.type === "response" ? (idOf(step.message) ?? last) : undefined);
  }
  return linesOf(normalise(messages), answers, end);
}

/** The same of ours, without commands' progress, whose frequency varies. */
export function ourLines(received: readonly Received[], end: End, normalise: Normalise): readonly Line[] {
  const messages = received.filter(({ params }) => params?.notification?.type !== "tool_progress_update");
  const answers = messages.map((message) => {
    const data = message.error?.data as { requestId?: string } | undefined;
    return message.type === "response" ? (idOf(message) ?? data?.requestId) : undefined;
  });
  return linesOf(normalise(messages), answers, end);
}

function linesOf(messages: readonly Received[], answers: readonly (string | undefined)[], end: End): readonly Line[] {
  const turns = turnsOf(messages);
  const lines = messages.map((message, index): Line => {
    const isSettings = message.params?.notification?.type === "settings_updated";
    const id = isSettings ? answers.slice(index).find((one) => one !== undefined) : answers[index];
    const turn = turns[index];
    return { message, ...(id === undefined ? {} : { answers: id }), ...(turn === undefined ? {} : { turn }) };
  });
  return [...lines, { message: { type: "end of the process", ...end } }];
}

/** A turn starts with a state, before the message that names it, and ends with `idle`. */
function turnsOf(messages: readonly Received[]): readonly (string | undefined)[] {
  let turn: string | undefined;
  let isIdle = true;
  return messages.map(({ params }, index) => {
    const notice = params?.notification;
    if (notice?.type === "droid_working_state_changed" && isIdle) {
      const prompt = messages.slice(index).find((message) => promptId(message) !== undefined);
      turn = prompt === undefined ? undefined : promptId(prompt);
    }
    if (notice?.type === "droid_working_state_changed") isIdle = notice.newState === "idle";
    return turn;
  });
}

function promptId({ params }: Received): string | undefined {
  const notice = params?.notification;
  return notice?.type === "create_message" && typeof notice.requestId === "string" ? notice.requestId : undefined;
}

function idOf(message: Received | undefined): string | undefined {
  const id: unknown = message?.id;
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}
