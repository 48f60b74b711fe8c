import { declared, handedOver } from "../calls/client-tools.ts";
import { offeredTools, toolsOf } from "../calls/offered-tools.ts";
import type { ToolSource } from "../calls/tool-source.ts";
import type { ModelInfo, ToolSpec } from "../ports.ts";
import type { Mode, RunOptions, SessionSettings } from "../settings.ts";
import type { Tool } from "../tool.ts";

/** The tools offered for one reply, whatever changes meanwhile. */
export interface OfferedTools {
  /** The model's tools in all modes. */
  readonly tools: readonly Tool[];
  readonly specs: readonly ToolSpec[];
  /** The JSON Schema of a tool's arguments. */
  schemaOf(tool: Tool): Promise<unknown>;
}

/** A session's tools: its own, and those that its client brings or runs instead. */
export class SessionTools implements ToolSource {
  private readonly own: ToolSource;
  private readonly settings: Pick<SessionSettings, "clientTools" | "clientRunsTools">;
  private readonly run: RunOptions;
  private readonly schemaOf: (tool: Tool) => Promise<unknown>;
  /** Names in order of appearance. Places never change, because providers cache requests by their prefix. */
  private readonly places = new Map<string, number>();
  private isWanted: (name: string) => boolean = () => true;
  private changes = 0;
  private known: { readonly ownVersion: number; readonly changes: number; readonly tools: readonly Tool[] } | undefined;

  constructor(
    own: ToolSource,
    settings: Pick<SessionSettings, "clientTools" | "clientRunsTools">,
    run: RunOptions,
    schemaOf: (tool: Tool) => Promise<unknown>,
  ) {
    this.own = own;
    this.settings = settings;
    this.run = run;
    this.schemaOf = schemaOf;
  }

  get version(): number {
    return this.own.version + this.changes;
  }

  list(): readonly Tool[] {
    const { version: ownVersion } = this.own;
    const { known, changes } = this;
    if (known !== undefined && known.ownVersion === ownVersion && known.changes === changes) return known.tools;
    const tools = this.inPlace(this.all()).filter(({ name }) => this.isBrought(name) || this.isWanted(name));
    this.known = { ownVersion, changes, tools };
    return tools;
  }

  /** Limits the listed tools from now on. Tools that the client brought stay. */
  limit(isWanted: (name: string) => boolean): void {
    this.isWanted = isWanted;
    this.changes += 1;
  }

  /** The current offer for a model. */
  offer(model: ModelInfo, mode: Mode): OfferedTools {
    const tools = this.list();
    const specs = offeredTools(tools, model, mode).map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: () => this.schemaOf(tool),
    }));
    return { tools: toolsOf(tools, model), specs, schemaOf: this.schemaOf };
  }

  /** Whether an offered tool still exists. Tools run by the client always do. */
  isThere({ name, runBy }: Tool): boolean {
    return runBy === "client" || this.own.list().some((tool) => tool.name === name);
  }

  private all(): readonly Tool[] {
    const { clientTools = [], clientRunsTools = false } = this.settings;
    const { toolResultMs, disabledTools = [] } = this.run;
    const kept = this.own.list().filter(({ name }) => !disabledTools.includes(name) && !this.isBrought(name));
    return [
      ...(clientRunsTools ? kept.map((tool) => handedOver(tool, toolResultMs)) : kept),
      ...clientTools.map((tool) => declared(tool, toolResultMs)),
    ];
  }

  private isBrought(name: string): boolean {
    return this.settings.clientTools?.some((tool) => tool.name === name) === true;
  }

  private inPlace(tools: readonly Tool[]): readonly Tool[] {
    for (const { name } of tools) if (!this.places.has(name)) this.places.set(name, this.places.size);
    const placeOf = ({ name }: Tool): number => this.places.get(name) ?? 0;
    return tools.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
