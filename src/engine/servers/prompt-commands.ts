import { AgentError } from "../errors.ts";
import type { PromptBlock } from "../message.ts";
import { commandName, valuesIn } from "./prompt-arguments.ts";
import type { ToolServers } from "./tool-servers.ts";

interface Command {
  readonly server: string;
  readonly name: string;
  readonly rest: string;
}

const pattern = /^\/mcp:([^\s:]+):(\S+)/;

/** Messages such as `/mcp:linear:summary ENG-1`, which stand for a prompt that a server offers. */
export class PromptCommands {
  private readonly open: () => ToolServers | undefined;
  private readonly underWay = new Set<AbortController>();

  constructor(open: () => ToolServers | undefined) {
    this.open = open;
  }

  /**
   * The message with the prompt's text instead; `undefined` if it is no command, or the session has no servers. Rejects
   * with `usage`, `server_failed` or `interrupted`.
   */
  expand(content: readonly PromptBlock[]): Promise<readonly PromptBlock[]> | undefined {
    const texts = content.filter((block) => block.type === "text");
    const text = texts.length === 1 ? (texts[0]?.text.trim() ?? "") : "";
    const [whole = "", server, name] = pattern.exec(text) ?? [];
    const servers = server === undefined ? undefined : this.open();
    if (server === undefined || name === undefined || servers === undefined) return undefined;
    return this.replaced(content, { server, name, rest: text.slice(whole.length) }, servers);
  }

  /** Gives up all that are under way. */
  interrupt(): void {
    for (const abort of this.underWay) abort.abort();
  }

  private async replaced(
    content: readonly PromptBlock[],
    command: Command,
    servers: ToolServers,
  ): Promise<readonly PromptBlock[]> {
    const abort = new AbortController();
    this.underWay.add(abort);
    const aborted = new Promise<never>((_, reject) => {
      const message = "The message was dropped before the MCP server answered.";
      abort.signal.addEventListener("abort", () => reject(new AgentError("interrupted", message)), { once: true });
    });
    try {
      const text = await Promise.race([textOf(command, servers, abort.signal), aborted]);
      return content.map((block) => (block.type === "text" ? { type: "text", text } : block));
    } finally {
      this.underWay.delete(abort);
    }
  }
}

async function textOf({ server, name, rest }: Command, servers: ToolServers, signal: AbortSignal): Promise<string> {
  await servers.settled(signal);
  await servers.promptsKnown();
  const prompts = servers.prompts();
  const found = prompts.find((each) => each.server === server && each.name === name);
  if (found === undefined) {
    const known = prompts.flatMap((each) => commandName(each) ?? []).map((each) => `/${each}`);
    const available = known.length === 0 ? "MCP servers offer no commands now." : `Available: ${known.join(", ")}.`;
    throw new AgentError("usage", `Unknown command ${JSON.stringify(`/mcp:${server}:${name}`)}. ${available}`);
  }
  return servers.promptText(server, name, valuesIn(found, rest));
}
