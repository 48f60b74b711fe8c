import type { EngineParts } from "../engine-parts.ts";
import type { ToolCallBlock } from "../message.ts";
import type { DecisionContext } from "../permission.ts";
import type { Tool } from "../tool.ts";

type Containing = Pick<DecisionContext, "sandbox" | "noSandbox">;

/** The sandbox of one session's commands. */
export class SessionSandbox {
  private readonly parts: Pick<EngineParts, "host" | "sandbox">;
  private readonly id: () => string;
  private isUsed = false;

  constructor(parts: Pick<EngineParts, "host" | "sandbox">, id: () => string) {
    this.parts = parts;
    this.id = id;
  }

  /** What decisions about these calls depend on. The first command probes the sandbox. */
  async situation(
    calls: readonly Pick<ToolCallBlock, "name">[],
    tools: ReadonlyMap<string, Tool>,
  ): Promise<Containing> {
    if (!calls.some(({ name }) => tools.get(name)?.kind === "execute")) return {};
    const containing = await containingFor(this.parts, this.id());
    this.isUsed ||= containing.sandbox !== undefined;
    return containing;
  }

  async close(): Promise<void> {
    if (this.isUsed) await this.parts.host.sandbox.endSession(this.id());
  }
}

/** What decisions about a session's commands depend on. Probes the sandbox once per process. */
export async function containingFor(
  { host, sandbox: options }: Pick<EngineParts, "host" | "sandbox">,
  sessionId: string,
): Promise<Containing> {
  if (options === undefined || options.mode === "off") return {};
  const { sandbox } = host;
  const status = await sandbox.status();
  if (!status.works) return { noSandbox: status.why };
  const { mode, network, writable } = options;
  const temp = sandbox.tempOf(sessionId);
  const hasServers = sandbox.hasServers(sessionId);
  return { sandbox: { isRequired: mode === "required", temp, hasServers, network, writable } };
}

/** Whether the model is told that its commands are contained. Runs nothing. */
export function seemsContained({ host, sandbox }: Pick<EngineParts, "host" | "sandbox">): boolean {
  return sandbox !== undefined && sandbox.mode !== "off" && host.sandbox.seemsToWork();
}
