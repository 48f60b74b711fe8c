import type { Connect, SettingsChange } from "../../sdk/api.ts";
import type { SessionSummary } from "../../sdk/types.ts";

type ListedSession = Pick<SessionSummary, "id" | "title" | "cwd" | "updatedAt">;

/** The program that runs the sessions: our own engine, or one that speaks stream-jsonrpc. */
export interface Backend {
  /** Settings of new sessions. */
  readonly settings: SettingsChange;
  /** Opens a connection for one session, which works in this folder. */
  connect(cwd: string): Connect;
  /** Newest first. Absent if its sessions cannot be listed. */
  list?(query: { readonly cwd?: string }): Promise<readonly ListedSession[]>;
  /** Rejects if the session does not exist or is in use. */
  remove?(sessionId: string): Promise<void>;
  /** Starts loading what the first session will need. */
  prepare(): void;
  /** Rejects with the reason if something is missing. */
  authenticate(): Promise<void>;
  close(): Promise<void>;
}
