import type { SandboxOptions } from "../containment.ts";
import type { EngineParts } from "../engine-parts.ts";
import type { SessionState } from "../log/history.ts";
import type { ToolCallBlock } from "../message.ts";
import type { DecisionContext } from "../permission.ts";
import type { Host } from "../ports.ts";
import type { Autonomy, RunOptions, SessionSettings } from "../settings.ts";
import type { Tool } from "../tool.ts";

type Containing = Pick<DecisionContext, "sandbox" | "noSandbox">;

/** The sandbox of one session's commands. */
export class SessionSandbox {
  private readonly parts: Pick<EngineParts, "host" | "sandbox">;
  private readonly state: Pick<SessionState, "id">;
  private readonly run: RunOptions;
  private isUsed = false;

  constructor(parts: Pick<EngineParts, "host" | "sandbox">, state: Pick<SessionState, "id">, run: RunOptions) {
    this.parts = parts;
    this.state = state;
    this.run = run;
  }

  /** Whether commands run in it with these settings, as far as is known; `undefined` without a sandbox. */
  contains({ autonomy, clientRunsTools }: SessionSettings): boolean | undefined {
    if (this.run.unsafe === true || clientRunsTools === true) return undefined;
    return seemsContained(this.parts, autonomy);
  }

  /** The facts that decisions about these calls depend on. The first command probes the sandbox. */
  async situation(
    calls: readonly Pick<ToolCallBlock, "name">[],
    tools: ReadonlyMap<string, Tool>,
  ): Promise<Containing> {
    if (!calls.some(({ name }) => tools.get(name)?.kind === "execute")) return {};
    const containing = await containingFor(this.parts, this.state.id);
    this.isUsed ||= containing.sandbox !== undefined;
    return containing;
  }

  /** For people, if commands are not contained although they should be. */
  whyNot({ noSandbox }: Containing, { autonomy }: SessionSettings): string | undefined {
    if (noSandbox === undefined || autonomy === "high" || this.run.unsafe === true) return undefined;
    return `Commands run without a sandbox. ${noSandbox} For what to do, run: tinman doctor`;
  }

  async close(): Promise<void> {
    if (this.isUsed) await this.parts.host.sandbox.endSession(this.state.id);
  }
}

/** The facts that decisions about a session's commands depend on. Probes the sandbox once per process. */
export async function containingFor(
  { host, sandbox: options }: Pick<EngineParts, "host" | "sandbox">,
  sessionId: string,
): Promise<Containing> {
  if (options === undefined || options.mode === "off") return {};
  const status = await host.sandbox.status();
  return status.works ? { sandbox: containedFor({ host, sandbox: options }, sessionId) } : { noSandbox: status.why };
}

/** The same for a sandbox that works. */
export function containedFor(
  { host: { sandbox }, sandbox: options }: { readonly host: Host; readonly sandbox: SandboxOptions },
  sessionId: string,
): NonNullable<Containing["sandbox"]> {
  const { mode, network, writable } = options;
  const hasServers = sandbox.hasServers(sessionId);
  return { isRequired: mode === "required", temp: sandbox.tempOf(sessionId), hasServers, network, writable };
}

/** Whether commands at a level are contained; `undefined` without a sandbox. A guess that runs nothing. */
export function seemsContained(
  { host, sandbox }: Pick<EngineParts, "host" | "sandbox">,
  autonomy: Autonomy,
): boolean | undefined {
  if (sandbox === undefined || sandbox.mode === "off" || !host.sandbox.seemsToWork()) return undefined;
  return sandbox.mode === "required" || autonomy !== "high";
}
