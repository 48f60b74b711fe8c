import type { TurnEventOf } from "../../../sdk/turns/turn-event-handlers.ts";
import { terminalLine } from "../../../text/terminal-text.ts";
import type { Client } from "../client.ts";
import { plainLine } from "../view/shown-text.ts";

interface Parts {
  readonly client: Client;
  readonly sessionId: string;
  notice(severity: "info" | "warning", title: string, description?: string): void;
  /** The user does not want to sign in. */
  cancelSignIn(server: string): Promise<void>;
}

/** What an editor learns about MCP servers: which failed, and where to sign in. */
export function createServerNews({ client, sessionId, notice, cancelSignIn }: Parts) {
  /** Errors of servers by name, each told once. */
  const failures = new Map<string, string>();
  /** Addresses that the client was asked to open, by server. */
  const opened = new Map<string, { readonly id: string; readonly abort: AbortController }>();

  async function openAddress({ server, url, message, state }: TurnEventOf<"sign_in_required">): Promise<void> {
    opened.get(server)?.abort.abort();
    const [id, abort] = [state ?? `${sessionId}-${server}`, new AbortController()];
    opened.set(server, { id, abort });
    const request = { mode: "url", sessionId, elicitationId: id, url, message: message || signInAt(server) } as const;
    const { action } = await client.elicit(request, abort.signal);
    if (action !== "accept" && opened.get(server)?.id === id) await cancelSignIn(server);
  }

  return {
    changed({ servers }: TurnEventOf<"mcp_servers">) {
      for (const { name, status, error = "it failed." } of servers) {
        if (status !== "failed") failures.delete(name);
        else if (failures.get(name) !== error) {
          failures.set(name, error);
          notice("warning", terminalLine(`The MCP server ${name} cannot be used: ${error}`));
        }
      }
    },
    signInRequired(event: TurnEventOf<"sign_in_required">) {
      const { server, url } = event;
      // Without a client that opens addresses, people can still copy the link.
      const tell = (): void => notice("info", signInAt(server), linkTo(url));
      if (client.capabilities.elicitation?.url && isWebAddress(url)) openAddress(event).catch(tell);
      else tell();
    },
    signInEnded({ server, outcome, message }: TurnEventOf<"sign_in_ended">) {
      const asked = opened.get(server);
      opened.delete(server);
      if (asked !== undefined) client.completed(asked.id);
      if (outcome === "success") notice("info", terminalLine(`Signed in to the MCP server ${server}.`));
      else notice("warning", terminalLine(`Not signed in to the MCP server ${server}: ${message || outcome}`));
    },
  };
}

function signInAt(server: string): string {
  return terminalLine(`The MCP server ${server} needs you to sign in.`);
}

/** A link in Markdown. Parsed addresses have no characters that could end it or hide in it. */
function linkTo(url: string): string {
  return isWebAddress(url) ? `<${new URL(url).href}>` : plainLine(url);
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
