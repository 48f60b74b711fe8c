import type { Usage } from "../engine/message.ts";
import { addUsage, noUsage } from "../engine/message.ts";
import type { ModelEvent } from "../engine/ports.ts";

/** An empty reply is retried once; another retry would be empty too. */
const emptyReplyRetries = 1;

/** The output of all attempts so far. */
export interface Shown {
  text: string;
  textBlock: string | undefined;
  endsInText: boolean;
  /** The attempt whose tool input was shown. Input of later attempts is hidden, as it would repeat. */
  inputOf: number | undefined;
  spent: Usage;
}

/** Filters the events of one attempt. */
export interface Passing {
  /** Held back: only a successful attempt's calls run. */
  readonly calls: readonly ModelEvent[];
  /** The event to show; `undefined` for none. */
  shown(event: ModelEvent): ModelEvent | undefined;
  /** Whether the reply was empty and is to be retried. */
  isEmptyEnd(end: ModelEvent & { type: "end" }): boolean;
}

export function nothingShown(): Shown {
  return { text: "", textBlock: undefined, endsInText: false, inputOf: undefined, spent: noUsage };
}

export function passingOn(reply: Shown, attempt: number, isFirstOfModel: boolean): Passing {
  const isResumed = reply.text !== "";
  const calls: ModelEvent[] = [];
  const { spent } = reply;
  let isEmpty = !isResumed;

  const shown = (event: ModelEvent): ModelEvent | undefined => {
    switch (event.type) {
      case "tool_call":
        isEmpty = false;
        calls.push(event);
        return undefined;
      case "usage":
        reply.spent = addUsage(spent, event.usage);
        return { type: "usage", usage: reply.spent };
      case "notice":
        return isFirstOfModel ? event : undefined;
      case "text": {
        isEmpty &&= event.text === "";
        reply.text += event.text;
        const continuesBlock = isResumed && reply.endsInText;
        if (!continuesBlock) reply.textBlock = event.block;
        reply.endsInText = true;
        return isResumed ? textIn(reply.textBlock, event.text) : event;
      }
      case "thinking":
        reply.endsInText = false;
        return attempt === 1 ? event : { ...event, block: `${attempt}/${event.block ?? ""}` };
      case "tool_input":
        reply.inputOf ??= attempt;
        return reply.inputOf === attempt ? event : undefined;
      default:
        return event;
    }
  };

  return {
    calls,
    shown,
    isEmptyEnd: ({ stop }) => isEmpty && stop === "end" && attempt <= emptyReplyRetries,
  };
}

/** Continued text stays in its block. It loses its proof, because a proof covers the text of one attempt only. */
function textIn(block: string | undefined, text: string): ModelEvent {
  return block === undefined ? { type: "text", text } : { type: "text", text, block };
}
