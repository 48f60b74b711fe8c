import type { Engine } from "../../engine/engine.ts";
import type { EngineEvent } from "../../engine/event.ts";
import type { Autonomy, ReasoningEffort, RunOptions } from "../../engine/settings.ts";
import type { GitRepo } from "../../protocol/droid/results.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { LiveSession } from "./attached-session.ts";
import type { Dialect } from "./dialect.ts";
import type { Lines } from "./lines.ts";
import type { Sessions, Shared } from "./sessions.ts";

/** Defaults for the sessions of a connection. */
export interface ConnectionOptions {
  readonly defaults: {
    readonly modelId: string;
    readonly reasoningEffort: ReasoningEffort;
    readonly specModelId?: string;
    readonly specReasoningEffort?: ReasoningEffort;
    readonly appendSystemPrompt?: string;
    readonly autonomy?: Autonomy;
    readonly spec?: boolean;
    /** Only if the user set it. */
    readonly cwd?: string;
  };
  readonly run: RunOptions;
  /** The canonical path. Throws `usage` if it is not a folder. */
  folder(path: string): string;
  repository(cwd: string): Promise<GitRepo | undefined>;
  /** For sessions shared between connections. Absent: a connection's sessions are its own and end with it. */
  readonly shared?: Shared;
  /** Called for each session whose client named no model. */
  onDefaultModel?(): Promise<void>;
  /** Messages for people, never sent on the wire. */
  readonly log: { warn(text: string): Promise<void>; event(event: EngineEvent): Promise<void> };
}

export interface Context {
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly transport: Transport;
  readonly options: ConnectionOptions;
  readonly lines: Lines;
  /** Ends the connection: `run` rejects with it. */
  fail(error: unknown): void;
  live: LiveSession | undefined;
  /** Fixed by the first session. */
  dialect: Dialect | undefined;
  /** As the client last sent it. */
  protocolVersion: string | undefined;
}
