import type { Connect, SettingsChange } from "../../sdk/api.ts";
import type { SessionSummary } from "../../sdk/types.ts";

/** What stands behind the front end: our own engine, or a program that speaks stream-jsonrpc. */
export interface Backend {
  /** What new sessions begin with. */
  readonly settings: SettingsChange;
  /** Whether it can be asked to connect to MCP servers beyond this machine. */
  readonly takesRemoteServers: boolean;
  /** A connection of its own for each session, which works in this folder. */
  connect(cwd: string): Connect;
  /** Newest first. Absent when nobody knows where its sessions are. */
  list?(query: { readonly cwd?: string }): Promise<readonly SessionSummary[]>;
  /** Rejects when there is none with this id, or it is in use. */
  remove?(sessionId: string): Promise<void>;
  /** Begins to load what the first session will need. */
  prepare(): void;
  /** Rejects with the words for what is missing. */
  authenticate(): Promise<void>;
  close(): Promise<void>;
}
