import { textStart } from "../../text/text-cut.ts";
import { callsOf, type Message, textOf, type UserMessage } from "../message.ts";
import { shownInput, withinTokens } from "./prune.ts";

const heading = "Earlier parts of this conversation are no longer in your view. These are your notes of them:";

/** The message that replaces earlier ones for the model. */
export function standIn(
  notes: string,
  kept: readonly string[],
  own: Pick<UserMessage, "id" | "createdAt">,
): UserMessage {
  const texts = [`${heading}\n\n${notes}`, ...kept];
  return { ...own, role: "user", content: texts.map((text) => ({ type: "reminder", text })) };
}

/** The notes of an earlier compaction, if this message is its stand-in. */
function earlierNotes({ content: [first] }: UserMessage): string | undefined {
  const isStandIn = first?.type === "reminder" && first.text.startsWith(heading);
  return isStandIn ? first.text.slice(heading.length).trim() : undefined;
}

const mostWords = 400;

/** Notes without a model: prompts, replies and calls, one line each. */
export function listOfSteps(messages: readonly Message[], most: number): string {
  const lines = messages.flatMap((message, index): readonly string[] => {
    if (message.role === "user") {
      const notes = earlierNotes(message);
      return notes === undefined ? said("User", textOf(message.content)) : [notes];
    }
    if (message.role === "tool") return [];
    const results = messages[index + 1];
    const calls = callsOf(message).map((call) => {
      const result = results?.role === "tool" ? results.content.find(({ callId }) => callId === call.id) : undefined;
      return `- ${call.name} ${shownInput(call)}: ${result?.status ?? "no result"}`;
    });
    return [...said("You", textOf(message.content)), ...calls];
  });
  return withinTokens(lines.join("\n"), most);
}

function said(who: string, text: string): readonly string[] {
  const line = text.replace(/\s+/g, " ").trim();
  if (line === "") return [];
  return [`${who}: ${line.length <= mostWords ? line : `${textStart(line, mostWords)}…`}`];
}
