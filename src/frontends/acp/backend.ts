import type { Connect, SettingsChange } from "../../sdk/api.ts";
import type { SessionSummary } from "../../sdk/types.ts";

export type ListedSession = Pick<SessionSummary, "id" | "title" | "cwd" | "updatedAt">;

/** What stands behind the front end: our own engine, or a program that speaks stream-jsonrpc. */
export interface Backend {
  /** What new sessions begin with. */
  readonly settings: SettingsChange;
  /** Whether it can be asked to connect to MCP servers beyond this machine. */
  readonly takesRemoteServers: boolean;
  /** A connection of its own for each session, which works in this folder. */
  connect(cwd: string): Connect;
  /** Newest first. Absent where its sessions cannot be listed. */
  list?(query: { readonly cwd?: string }): Promise<readonly ListedSession[]>;
  /** Rejects when there is none with this id, or it is in use. */
  remove?(sessionId: string): Promise<void>;
  /** Begins to load what the first session will need. */
  prepare(): void;
  /** Rejects with the words for what is missing. */
  authenticate(): Promise<void>;
  close(): Promise<void>;
}
