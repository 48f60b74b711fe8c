import { createPace } from "../../async/pace.ts";
import { settlesWithin } from "../../async/promises.ts";
import type { Clock } from "../../engine/ports.ts";
import type { ServerPrompt } from "../../engine/servers/tool-servers.ts";
import { listPrompts } from "../prompts.ts";
import { listTools, type ToolDefinition } from "../tools/definitions.ts";
import type { Link } from "./link.ts";
import { withinLimit } from "./within-limit.ts";

export interface ServerListsParts {
  readonly server: string;
  /** Changes with the server's entry. */
  readonly mark: string;
  readonly clock: Clock;
  /** How long a list can take. */
  readonly limitMs: number;
  /** Never throws. */
  changed(): void;
  notice(text: string): void;
}

/** Collects changes, and limits how often a server can make us list again. */
const refreshMs = 250;
/** How long a connection waits for the list of prompts. */
const promptsMs = 500;

/** What a server offers. The last lists stay while it is not connected. */
export class ServerLists {
  tools: ReadonlyMap<string, ToolDefinition> = new Map();
  prompts: readonly ServerPrompt[] = [];
  /** Resolves when the prompts of the latest connection are there, or it has failed to list them. */
  promptsKnown: Promise<void> = Promise.resolve();
  private readonly parts: ServerListsParts;
  private link: Link | undefined;
  private stopTimer: (() => void) | undefined;
  private isReading = false;
  private isStale = false;
  private lastNotice = "";

  constructor(parts: ServerListsParts) {
    this.parts = parts;
  }

  /** Reads all lists of a new connection. Rejects if the server does not list its tools. */
  async read(link: Link, signal: AbortSignal): Promise<void> {
    this.stop();
    this.link = link;
    this.promptsKnown = this.readPrompts(link);
    await this.readTools(link, signal);
    await settlesWithin(promptsMs, this.promptsKnown);
  }

  /** The server says that a list has changed. Reads them a little later, one time after the other. */
  refresh(): void {
    if (this.isReading) this.isStale = true;
    else this.stopTimer ??= this.parts.clock.after(refreshMs, () => this.readAgain(), { background: true });
  }

  /** The connection has ended. */
  stop(): void {
    this.stopTimer?.();
    this.stopTimer = undefined;
    this.link = undefined;
  }

  private readAgain(): void {
    this.stopTimer = undefined;
    const { link, parts } = this;
    if (link === undefined) return;
    this.isReading = true;
    const tools = withinLimit(parts.clock, parts.limitMs, (signal) => this.readTools(link, signal));
    Promise.allSettled([tools, this.readPrompts(link)])
      .then(() => {
        this.isReading = false;
        const isAgain = this.isStale;
        this.isStale = false;
        parts.changed();
        if (isAgain) this.refresh();
      })
      .catch(() => undefined);
  }

  private async readTools(link: Link, signal: AbortSignal): Promise<void> {
    const { server, mark, notice } = this.parts;
    const pace = createPace();
    const { tools, leftOut } = await listTools(link, mark, signal, () => pace.rest());
    if (this.link !== link || signal.aborted) return;
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    if (leftOut === 0) return;
    const words = `Only ${tools.length} tools of the server ${server} are offered: the others are malformed or too many.`;
    if (words !== this.lastNotice) notice(words);
    this.lastNotice = words;
  }

  /** Prompts are for people, so a server that is slow to list them is used without them for now. Never rejects. */
  private async readPrompts(link: Link): Promise<void> {
    const { server, clock, limitMs, changed } = this.parts;
    const prompts = await withinLimit(clock, limitMs, (signal) => listPrompts(link, server, signal)).catch(() => []);
    if (this.link !== link) return;
    this.prompts = prompts;
    changed();
  }
}
