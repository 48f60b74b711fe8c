import type { ToolUseBlock } from "../../../protocol/droid/content.ts";
import { recordOf } from "../../../text/values.ts";

/** Arguments are always an object on this wire. */
export function objectInput(input: unknown): Record<string, unknown> {
  return recordOf(input) ?? {};
}

/**
 * Every update has all arguments so far. This limits the characters of updates per call: beyond it the next one comes with
 * the complete call, so that many arguments don't cost their square.
 */
const mostShownEarly = 1_000_000;

/** The engine treats deeper arguments as malformed. */
const mostDepth = 500;

export type StreamedCalls = ReturnType<typeof createStreamedCalls>;

/** The streaming calls of one reply, and what was last sent of each. */
export function createStreamedCalls() {
  const growing = new Map<string, Growing>();
  const shown = new Map<string, ToolUseBlock>();

  const hasShown = (call: ToolUseBlock): boolean => {
    const last = shown.get(call.id);
    return last?.name === call.name && JSON.stringify(last.input) === JSON.stringify(call.input);
  };

  return {
    /** Returns the call each time another argument is complete, and once with no arguments when it begins. */
    add(callId: string, name: string, text: string): readonly ToolUseBlock[] {
      const updates: ToolUseBlock[] = [];
      const show = (input: Record<string, unknown>): void => {
        const call: ToolUseBlock = { type: "tool_use", id: callId, name, input };
        if (hasShown(call)) return;
        shown.set(callId, call);
        updates.push(call);
      };
      let call = growing.get(callId);
      if (call === undefined) {
        call = growingInput();
        growing.set(callId, call);
        if (!shown.has(callId)) show({});
      }
      if (call.add(text)) show(call.input());
      return updates;
    },
    /** Whether the call was sent with exactly these arguments. */
    hasShown,
    /** The model starts over. Sent updates remain. */
    restart: () => growing.clear(),
    /** Forgets all calls. Returns the ids of those that were sent. */
    clear: (): readonly string[] => {
      const ids = [...shown.keys()];
      growing.clear();
      shown.clear();
      return ids;
    },
  };
}

type Growing = ReturnType<typeof growingInput>;

/**
 * The arguments of one call as they stream. Reads each character once. Completes nothing unless the text is a JSON object.
 */
function growingInput() {
  const members = new Map<string, unknown>();
  let isOver = false;
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  /** The incomplete argument, without the comma before it. */
  let member = "";
  let length = 0;
  let shownEarly = 0;

  const complete = (): boolean => {
    if (member.trim() === "") return false;
    try {
      for (const [name, value] of Object.entries(JSON.parse(`{${member}}`) as object)) members.set(name, value);
      member = "";
      return true;
    } catch {
      isOver = true;
      return false;
    }
  };

  return {
    input: () => Object.fromEntries(members),
    /** Returns true when another argument is complete. */
    add(text: string): boolean {
      let from = 0;
      let hasMore = false;
      for (let index = 0; index < text.length && !isOver; index += 1) {
        const character = text[index];
        if (inText) {
          if (isEscaped) isEscaped = false;
          else if (character === "\\") isEscaped = true;
          else if (character === '"') inText = false;
        } else if (depth === 0) {
          if (character === "{") depth = 1;
          else if (character?.trim() !== "") isOver = true;
          from = index + 1;
        } else if (character === '"') {
          inText = true;
        } else if (character === "{" || character === "[") {
          depth += 1;
          if (depth > mostDepth) isOver = true;
        } else if ((character === "," && depth === 1) || ((character === "}" || character === "]") && --depth === 0)) {
          member += text.slice(from, index);
          from = index + 1;
          if (complete()) hasMore = true;
          if (depth === 0) isOver = true;
        }
      }
      if (isOver) member = "";
      else member += text.slice(from);
      length += text.length;
      if (!hasMore || shownEarly + length > mostShownEarly) return false;
      shownEarly += length;
      return true;
    },
  };
}
