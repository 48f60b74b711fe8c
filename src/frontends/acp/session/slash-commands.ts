import { onAbort } from "../../../async/on-abort.ts";
import type { Session } from "../../../sdk/api.ts";
import { RequestError } from "../../../sdk/errors.ts";
import type { ModelInfo } from "../../../sdk/types.ts";
import { terminalLine } from "../../../text/terminal-text.ts";
import { textStart } from "../../../text/text-cut.ts";
import { fieldsOf, textOf } from "../../../text/values.ts";
import { askBackend } from "../ask-backend.ts";
import { changeToMode, effortOf, effortsOf, modeNames, modeOf } from "../modes.ts";

interface Around {
  readonly session: Session;
  readonly models: readonly ModelInfo[];
  readonly cwd: string;
  readonly id: string;
  /** Aborted when the user cancels the command. */
  readonly signal: AbortSignal;
}

export interface SlashCommand {
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
  /** Answers without the model. If absent, the text goes to the backend unchanged. */
  run?(around: Around, rest: string): Promise<string>;
}

/** They work with every backend, and are not part of the conversation. */
const own: readonly SlashCommand[] = [
  {
    name: "status",
    description: "Show the session, its model, its mode and how full the model's window is",
    run: async ({ session, cwd, id }) => {
      const { settings, usage, title } = session;
      const { used, limit } = await askBackend(session, "get_context_stats");
      const rows = [
        ["Session", title ? `${title} (${id})` : id],
        ["Folder", cwd],
        ["Model", settings.modelId],
        ["Thinking", effortOf(settings)],
        ["Mode", modeOf(settings)],
        ...(used === undefined || limit === undefined ? [] : [["Window", `${used} of ${limit} tokens used`]]),
        ...(usage === undefined
          ? []
          : [
              [
                "Tokens",
                `${usage.inputTokens + usage.cacheReadTokens + usage.cacheCreationTokens} in, ${usage.outputTokens} out`,
              ],
            ]),
      ];
      return rows.map(([name, value]) => `- ${name}: ${value}`).join("\n");
    },
  },
  {
    name: "model",
    description: "Show the models, or change to one",
    hint: "the id of a model",
    run: async ({ session, models }, id) => {
      const now = session.settings.modelId;
      if (id === "") return models.map((model) => `- ${model.id}${model.id === now ? " (in use)" : ""}`).join("\n");
      if (models.length > 0 && !models.some((model) => model.id === id)) return `Unknown model ${JSON.stringify(id)}.`;
      await session.updateSettings({ modelId: id });
      return `The model is now ${session.settings.modelId}.`;
    },
  },
  {
    name: "mode",
    description: "Show the mode, or change it",
    hint: modeNames(),
    run: async ({ session }, name) => {
      if (name === "") return `The mode is ${modeOf(session.settings)}. Available: ${modeNames()}.`;
      const change = changeToMode(name);
      if (change === undefined) return `Unknown mode ${JSON.stringify(name)}. Available: ${modeNames()}.`;
      await session.updateSettings(change);
      return `The mode is now ${modeOf(session.settings)}.`;
    },
  },
  {
    name: "effort",
    description: "Show how hard the model thinks, or change it",
    hint: "none, low, medium, high …",
    run: async ({ session, models }, effort) => {
      const known = effortsOf(session.settings, models);
      if (effort === "") return `The effort is ${effortOf(session.settings)}. Available: ${known.join(", ")}.`;
      if (!known.includes(effort)) return `Unknown effort ${JSON.stringify(effort)}. Available: ${known.join(", ")}.`;
      await session.updateSettings({ reasoningEffort: effort });
      return `The effort is now ${effortOf(session.settings)}.`;
    },
  },
  {
    name: "rename",
    description: "Rename the session",
    hint: "the new title",
    run: async ({ session }, title) => {
      if (title === "") return "Give a title: /rename <title>";
      await session.rename(title);
      return `The session is now called ${title}.`;
    },
  },
  {
    name: "compact",
    description: "Replace the conversation so far with a summary",
    hint: "what the summary should focus on",
    run: compact,
  },
  {
    name: "tools",
    description: "List the tools offered to the model",
    run: async ({ session }) => {
      const tools = (await session.tools()).filter(({ isAllowed }) => isAllowed);
      return tools.map(({ name, description }) => `- ${name}: ${description.split("\n")[0]}`).join("\n");
    },
  },
];

async function compact({ session, id, signal }: Around, wish: string): Promise<string> {
  const params = wish === "" ? {} : { customInstructions: wish };
  const interrupt = (): void => void session.call("interrupt_session").catch(() => undefined);
  const stopListening = onAbort(signal, interrupt);
  try {
    const result = Object(await session.call("compact_session", params)) as Record<string, unknown>;
    const { newSessionId, removedCount } = result;
    if (newSessionId !== id) return `The compacted conversation is session ${newSessionId}; this one is unchanged.`;
    return `The model now reads a summary in place of ${removedCount} messages. They stay in the history.`;
  } catch (error) {
    // Having nothing to compact is a normal answer.
    if (error instanceof RequestError) return error.detail;
    throw error;
  } finally {
    stopListening();
  }
}

/** For names and descriptions. */
const longest = 200;

export interface Commands {
  readonly commands: readonly SlashCommand[];
  /** The backend can list its own. */
  readonly isListed: boolean;
}

/** The backend's own commands, then ours that it does not have. */
export async function advertised(session: Session | undefined): Promise<Commands> {
  const { commands } = await askBackend(session, "list_commands");
  const theirs = (Array.isArray(commands) ? commands : []).flatMap((each: unknown) => {
    const { name, description, argumentHint } = fieldsOf(each);
    const word = textOf(name)?.replace(/^\//, "") ?? "";
    if (!canBeTyped(word)) return [];
    const hint = textOf(argumentHint) ?? "";
    return [
      { name: word, description: short(textOf(description) ?? word), ...(hint === "" ? {} : { hint: short(hint) }) },
    ];
  });
  return {
    commands: [...theirs, ...own.filter(({ name }) => !theirs.some((each) => each.name === name))],
    isListed: Array.isArray(commands),
  };
}

/** One word: a name that had to be cut or escaped would be a different command. */
function canBeTyped(name: string): boolean {
  return name !== "" && name.length <= longest && !/\s/.test(name) && terminalLine(name) === name;
}

function short(text: string): string {
  const start = textStart(text, longest);
  return terminalLine(text.length > longest ? `${start}…` : text);
}

export function findCommand(
  commands: readonly SlashCommand[],
  text: string,
): (SlashCommand & { readonly rest: string }) | undefined {
  const [, name, rest = ""] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const found = commands.find((command) => command.name === name);
  return found && { ...found, rest: rest.trim() };
}
