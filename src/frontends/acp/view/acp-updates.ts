import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { forgetOldest } from "../../../sdk/turns/repeats.ts";
import {
  handleTurnEvent,
  ignored,
  type TurnEventHandlers,
  type TurnEventOf,
} from "../../../sdk/turns/turn-event-handlers.ts";
import type { Block, PermissionCall, TurnEvent } from "../../../sdk/types.ts";
import { wholeFileOf } from "./diffs.ts";
import { planEntries } from "./plan-entries.ts";
import { textContent } from "./shown-text.ts";
import { askedView, type ToolView, viewOf } from "./tool-view.ts";

type Input = Readonly<Record<string, unknown>>;
type ToolResult = Pick<TurnEvent & { type: "tool_result" }, "id" | "content" | "text" | "isError">;

interface Call {
  readonly name: string;
  readonly input: Input;
  status: "pending" | "in_progress";
  view: ToolView;
  /** The previous content of a file that the call overwrites, if it was read. */
  readonly replaced?: { readonly text: string | undefined };
}

/** Limit for calls that never end; the oldest are dropped first. */
const mostCalls = 500;
const mostRestarts = 500;

export type Translator = ReturnType<typeof createTranslator>;

/**
 * SDK events as updates for a client of ACP. Holds state and does nothing else. `textIn` reads a file's current content,
 * and is called when a call is announced, before it runs.
 */
export function createTranslator(cwd: string, textIn: (path: string) => string | undefined = () => undefined) {
  const calls = new Map<string, Call>();
  /** How often a message was restarted. Shown text cannot be taken back, so the message continues under a new id. */
  const restarts = new Map<string, number>();

  const shownId = (messageId: string): string => {
    const times = restarts.get(messageId) ?? 0;
    return times === 0 ? messageId : `${messageId}-${times + 1}`;
  };

  function keep(id: string, call: Call): void {
    calls.set(id, call);
    forgetOldest(calls, mostCalls);
  }

  function replacedBy(name: string, input: Input): Call["replaced"] {
    const path = wholeFileOf(name, input, cwd);
    return path === undefined ? undefined : { text: textIn(path) };
  }

  /** Announces a call with the first keys of its input, and updates it when they change. */
  function call(id: string, name: string, input: Input): readonly SessionUpdate[] {
    const before = calls.get(id);
    const isSamePlace = before !== undefined && before.name === name && before.input.file_path === input.file_path;
    const replaced = (isSamePlace ? before.replaced : undefined) ?? replacedBy(name, input);
    const view = viewOf(name, input, cwd, replaced?.text);
    const known = { name, input, view, ...(replaced === undefined ? {} : { replaced }) };
    if (before === undefined) {
      keep(id, { ...known, status: "pending" });
      return [{ sessionUpdate: "tool_call", toolCallId: id, name, status: "pending", ...view, rawInput: input }];
    }
    if (before.name === name && JSON.stringify(before.input) === JSON.stringify(input)) return [];
    keep(id, { ...known, status: before.status });
    return [{ sessionUpdate: "tool_call_update", toolCallId: id, name, ...view, rawInput: input }];
  }

  function begins(id: string): readonly SessionUpdate[] {
    const known = calls.get(id);
    if (known === undefined || known.status === "in_progress") return [];
    known.status = "in_progress";
    return [{ sessionUpdate: "tool_call_update", toolCallId: id, status: "in_progress" }];
  }

  function progress(id: string, text: string): readonly SessionUpdate[] {
    const known = calls.get(id);
    if (known === undefined || text === "") return [];
    known.status = "in_progress";
    const content = [...known.view.content, textContent(text)];
    return [{ sessionUpdate: "tool_call_update", toolCallId: id, status: "in_progress", content }];
  }

  function result({ id, content, text, isError }: ToolResult): readonly SessionUpdate[] {
    const known = calls.get(id);
    calls.delete(id);
    if (known === undefined) return [];
    // The diff or the plan is more useful than the tool's text.
    const isSaid = known.view.content.length > 0 && !isError;
    return [
      {
        sessionUpdate: "tool_call_update",
        toolCallId: id,
        status: isError ? "failed" : "completed",
        content: [...known.view.content, ...(isSaid ? [] : shown(content))],
        rawOutput: { text },
      },
    ];
  }

  function restarted({ messageId }: TurnEventOf<"text_reset">): readonly SessionUpdate[] {
    restarts.set(messageId, (restarts.get(messageId) ?? 0) + 1);
    forgetOldest(restarts, mostRestarts);
    return [];
  }

  const handlers: TurnEventHandlers<readonly SessionUpdate[]> = {
    text: ({ messageId, text }) => [chunk("agent_message_chunk", shownId(messageId), text)],
    text_reset: restarted,
    thinking: ({ messageId, text }) => [chunk("agent_thought_chunk", shownId(messageId), text)],
    message: ignored,
    tool_input: ({ id, name, input }) =>
      name === "TodoWrite" || Object.keys(input).length === 0 ? [] : call(id, name, input),
    tool_call: ({ id, name, input }) => (name === "TodoWrite" ? plan(input) : call(id, name, input)),
    tool_progress: ({ id, text }) => progress(id, text),
    tool_result: result,
    // Handled by `session-news.ts`, or useless to an editor.
    state: ignored,
    usage: ignored,
    settings: ignored,
    title: ignored,
    retry: ignored,
    notice: ignored,
    mcp_servers: ignored,
    sign_in_required: ignored,
    sign_in_ended: ignored,
    error: ignored,
    other: ignored,
    end: ignored,
  };

  return {
    take: (event: TurnEvent) => handleTurnEvent(handlers, event) ?? [],
    /** A call that the user is asked about, with everything known of it. */
    asked(request: PermissionCall): ToolCallUpdate {
      const { id, name, input } = request;
      const view = askedView(request, cwd);
      keep(id, { name, input, status: "pending", view });
      return { toolCallId: id, name, status: "pending", ...view, rawInput: input };
    },
    /** All calls without a result are running now. */
    begin: () => [...calls.keys()].flatMap(begins),
    /** The last call of a tool without a result. */
    openCallOf: (name: string) => [...calls].filter(([, each]) => each.name === name).at(-1)?.[0],
    /** Calls without a result will get none. */
    closeCalls(): readonly SessionUpdate[] {
      const left = [...calls.keys()];
      calls.clear();
      restarts.clear();
      return left.map((toolCallId) => ({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" }));
    },
  };
}

function chunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  messageId: string,
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text }, ...(messageId === "" ? {} : { messageId }) };
}

function plan({ todos }: Input): readonly SessionUpdate[] {
  const entries = planEntries(todos);
  return entries === undefined ? [] : [{ sessionUpdate: "plan", entries }];
}

function shown(content: Extract<Block, { type: "tool_result" }>["content"]): readonly ToolCallContent[] {
  if (typeof content === "string") return content === "" ? [] : [textContent(content)];
  return content.map((block) =>
    block.type === "text"
      ? textContent(block.text)
      : {
          type: "content",
          content: { type: "image", mimeType: block.source.mediaType, data: block.source.data },
        },
  );
}
