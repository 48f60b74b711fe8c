import type { Received } from "../../fakes/rpc/wire.ts";
import type { Run } from "../../replay/trace.ts";
import { clientMessages } from "../../replay/trace.ts";
import type { Outcome } from "./trace-player.ts";
import type { Scene } from "./trace-script.ts";
import { isState, messageOf } from "./trace-script.ts";

/* The expected result of a trace, computed from its lines without the SDK's code. */

export interface ExpectedTurn {
  /** The error that rejects it, or that the process ended during it; else `undefined`. */
  readonly error: string | undefined;
  readonly status: string | undefined;
  readonly text: string | undefined;
  /** The calls with their complete inputs, and which results are errors, by call id. */
  readonly calls: Readonly<Record<string, unknown>>;
  readonly results: Readonly<Record<string, unknown>>;
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly input?: unknown;
}

type Line = { readonly by: "client" | "server"; readonly message: Received };

/** Each turn lasts from a non-idle state until idle. A rejected prompt has none. */
export function expectedTurns(run: Run): readonly ExpectedTurn[] {
  const turns: ExpectedTurn[] = [];
  const accepted = new Set<unknown>();
  let lastPrompt: unknown;
  let lines: Line[] | undefined;
  for (const line of linesOf(run)) {
    const { message } = line;
    const isIdle = isState(message, "idle");
    if (line.by === "client" && message.type === "request") lastPrompt = isPrompt(message) ? message.id : undefined;
    if (lines === undefined && isAnyState(message) && !isIdle) lines = [];
    lines?.push(line);
    if (lines !== undefined && isIdle) {
      turns.push(turnOf(lines));
      lines = undefined;
    }
    if (line.by === "client" || message.method !== undefined || lastPrompt === undefined) continue;
    if (message.error === undefined) accepted.add(message.id);
    else if (accepted.has(message.id)) turns.push({ ...none, status: "failed", text: "" });
    else turns.push({ ...none, error: `${message.error.code} add user message: ${message.error.message}` });
  }
  if (lines !== undefined)
    turns.push({ ...turnOf(lines), error: "BackendGoneError", status: undefined, text: undefined });
  return turns;
}

const none: ExpectedTurn = { error: undefined, status: undefined, text: undefined, calls: {}, results: {} };

function linesOf({ steps }: Run): readonly Line[] {
  return steps.flatMap((step): readonly Line[] => {
    if (step.by === "server") return [{ by: "server", message: step.message }];
    return clientMessages([step]).map((message) => ({ by: "client", message }));
  });
}

const isPrompt = ({ method, params }: Received): boolean =>
  method === "droid.add_user_message" && typeof params?.text === "string";

const isAnyState = ({ params }: Received): boolean => params?.notification?.type === "droid_working_state_changed";

function turnOf(lines: readonly Line[]): ExpectedTurn {
  const calls: Record<string, unknown> = {};
  const results: Record<string, unknown> = {};
  const open = new Map<string, string>();
  let text = "";
  let status = "completed";
  for (const { by, message } of lines) {
    const notification = message.params?.notification;
    const { id = "", role, content = [] } = messageOf(message);
    if (by === "client" && message.method === "droid.interrupt_session") status = "interrupted";
    if (by === "client" && message.result?.selectedOption === "cancel") status = "interrupted";
    if (notification?.type === "error") status = "failed";
    if (notification?.type === "assistant_text_delta") {
      const messageId = String(notification.messageId);
      open.set(messageId, `${open.get(messageId) ?? ""}${notification.textDelta}`);
    }
    if (notification?.type === "tool_result") results[String(notification.toolUseId)] = notification.isError === true;
    if (role !== "assistant") continue;
    open.delete(id);
    const said = content.map((block) => block.text ?? "").join("");
    if (said !== "") text = said;
    if (status === "failed") status = "completed";
    for (const block of content as readonly Block[]) {
      if (block.type === "tool_use") calls[String(block.id)] ??= [block.name, block.input];
    }
  }
  // The shown text of a message that never came.
  const unfinished = [...open.values()].at(-1);
  return { error: undefined, status, text: unfinished ?? text, calls, results };
}

/** Every message of the server, once, in order. */
export function expectedMessages({ steps }: Run): readonly string[] {
  return [...new Set(steps.flatMap((step) => (step.by === "server" ? [messageOf(step.message).id ?? ""] : [])))].filter(
    (id) => id !== "",
  );
}

/** The session's last settings, title and tokens. */
export function expectedKnown({ steps }: Run): Readonly<Record<string, unknown>> {
  const told: Record<string, unknown> = {};
  for (const step of steps) {
    const notification = step.by === "server" ? step.message.params?.notification : undefined;
    if (notification?.type === "settings_updated") Object.assign(told, notification.settings);
    if (notification?.type === "session_title_updated") told.title = notification.title;
    if (notification?.type === "session_token_usage_changed") told.usage = notification.tokenUsage;
  }
  const { modelId, reasoningEffort, interactionMode, autonomyLevel, title, usage } = told;
  return { modelId, reasoningEffort, interactionMode, autonomyLevel, title, usage };
}

/** The server's requests that the client did not answer in time. */
export function expectedWithdrawn(scenes: readonly Scene[]): readonly string[] {
  const answered = scenes.flatMap((one) =>
    one.by === "sdk" && "requestId" in one.awaited ? [one.awaited.requestId] : [],
  );
  const asked = scenes.flatMap((one) =>
    one.by === "server" && one.message.type === "request" ? [one.message.id ?? ""] : [],
  );
  return asked.filter((id) => !answered.includes(id));
}

/** A request's outcome: the server's next response to it, or its next error without an owner. */
export function expectedOutcomes(scenes: readonly Scene[]): ReadonlyMap<number, Outcome> {
  const outcomes = new Map<number, Outcome>();
  for (const [at, scene] of scenes.entries()) {
    if (scene.by !== "client" || ["prompt", "permission", "question", "nothing"].includes(scene.act.type)) continue;
    const asked = scenes.findIndex((one) => one.by === "sdk" && one.key === scene.key);
    const answer = scenes.find(
      (one, index) => index > asked && one.by === "server" && (one.answers === scene.key || one.message.id === null),
    );
    if (answer?.by !== "server") throw new Error(`Line ${scene.key} has no answer.`);
    outcomes.set(scene.key, outcomeOf(scenes, at, answer.message));
  }
  return outcomes;
}

function outcomeOf(scenes: readonly Scene[], at: number, { id, result, error }: Received): Outcome {
  const scene = scenes[at];
  const act = scene?.by === "client" ? scene.act : undefined;
  if (error !== undefined) {
    // The models of the session's start are known.
    if (act?.type === "models") return { ok: modelsAtFirst(scenes) };
    const asked = scenes.find((one) => one.by === "sdk" && one.key === (scene as { readonly key: number }).key);
    const method = asked?.by === "sdk" && "method" in asked.awaited ? asked.awaited.method : "";
    return {
      error: `${error.code} ${String(method).replace("droid.", "").replaceAll("_", " ")}: ${error.message}`,
      isAssigned: id === null,
    };
  }
  return { ok: act?.type === "call" ? result : undefined };
}

function modelsAtFirst(scenes: readonly Scene[]): readonly unknown[] {
  const opened = scenes.find((one) => one.by === "server" && one.message.result?.availableModels !== undefined);
  const models = opened?.by === "server" ? opened.message.result?.availableModels : [];
  return (models as readonly { readonly id: string }[]).map(({ id }) => id);
}
