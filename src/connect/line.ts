export type Line =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "command"; readonly name: CommandName; readonly rest: string }
  | { readonly kind: "unknown"; readonly word: string };

export const commandHelp = {
  cancel: "/cancel                   end the running answer, keep the session",
  stop: "/stop                     end the session; the next message starts a new one",
  sessions: "/sessions                 list sessions",
  resume: "/resume <id>              continue another session",
  capabilities: "/capabilities             what the server can do",
  result: "/result [call-id] <text>  answer a tool call",
  error: "/error [call-id] <text>   report that a tool call failed",
  quit: "/quit                     leave, and keep the session",
  help: "/help                     show this help; to begin a message with a slash, type two",
} as const;

export type CommandName = keyof typeof commandHelp;

export function parseLine(line: string): Line {
  if (!line.startsWith("/")) return { kind: "message", text: line };
  if (line.startsWith("//")) return { kind: "message", text: line.slice(1) };
  const [, word = "", rest = ""] = /^\/(\S*)\s?(.*)$/s.exec(line) ?? [];
  return isCommand(word) ? { kind: "command", name: word, rest } : { kind: "unknown", word };
}

function isCommand(word: string): word is CommandName {
  return Object.hasOwn(commandHelp, word);
}

/** The call to answer, and the text. The first word is an id only if an open call has it. */
export function splitResult(
  rest: string,
  openCalls: readonly string[],
): { readonly id?: string; readonly text: string } {
  const [, word = "", text = ""] = /^(\S*)\s?(.*)$/s.exec(rest) ?? [];
  if (openCalls.includes(word)) return { id: word, text };
  const [oldest] = openCalls;
  return { ...(oldest !== undefined && { id: oldest }), text: rest };
}
