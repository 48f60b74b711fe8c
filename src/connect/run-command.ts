import { recordOf } from "../text/values.ts";
import type { Conversation } from "./conversation.ts";
import { type CommandName, commandHelp, splitResult } from "./line.ts";
import { ConnectionLost, type Params, RpcFault } from "./link.ts";
import type { Screen } from "./screen.ts";
import { textOf } from "./session-state.ts";

/** Runs a slash command. Resolves with false if that failed, which was shown to the user. */
export async function runCommand(
  { name, rest }: { readonly name: CommandName; readonly rest: string },
  conversation: Conversation,
  screen: Screen,
): Promise<boolean> {
  try {
    const fault = await act(name, rest.trim(), rest, conversation, screen);
    if (fault !== undefined) screen.tell(fault);
    return fault === undefined;
  } catch (error) {
    if (!(error instanceof RpcFault || error instanceof ConnectionLost)) throw error;
    screen.tell(error.message);
    return false;
  }
}

async function act(
  name: CommandName,
  word: string,
  text: string,
  conversation: Conversation,
  screen: Screen,
): Promise<string | undefined> {
  switch (name) {
    case "help":
      for (const line of Object.values(commandHelp)) screen.tell(line);
      return undefined;
    case "quit":
      return undefined;
    case "cancel":
      if (!conversation.isRunning()) return "No answer is running.";
      await conversation.cancel();
      return undefined;
    case "stop":
      if (conversation.sessionId === undefined) return "No session yet.";
      await conversation.stop();
      return undefined;
    case "resume":
      if (word === "") return "Missing session id. Use /resume <id>; /sessions lists the ids.";
      await conversation.resume(word);
      screen.tell(`Continuing session ${word}.`);
      return undefined;
    case "sessions":
      for (const line of rows(await conversation.ask("listSessions"))) screen.show(line);
      return undefined;
    case "capabilities":
      screen.show(JSON.stringify(await conversation.ask("capabilities")));
      return undefined;
    case "result":
    case "error": {
      const given = splitResult(text, conversation.openCalls());
      if (given.id === undefined) return "No tool call is waiting for a result.";
      await conversation.answer(given.id, given.text, name === "error");
      return undefined;
    }
  }
}

function rows({ sessions }: Params): readonly string[] {
  const list = Array.isArray(sessions) ? sessions : [];
  if (list.length === 0) return ["No sessions."];
  return list.map((one) => {
    const { sessionId, status, updatedAt, title } = recordOf(one) ?? {};
    const state = status === 1 ? "active" : "stopped";
    return [textOf(sessionId), state.padEnd(7), textOf(updatedAt), textOf(title)].join("  ").trimEnd();
  });
}
