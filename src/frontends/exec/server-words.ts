import type { EventOf } from "../../engine/event.ts";

/** What a person learns of servers, each failure once. */
export function createServerWords() {
  const told = new Map<string, string>();
  return {
    /** `undefined` if no server has failed anew. */
    failed({ servers, changed }: EventOf<"servers.changed">): string | undefined {
      const { status, error = "it gave no reason." } = servers.find(({ name }) => name === changed) ?? {};
      if (status === "connected") told.delete(changed);
      if (status !== "failed" || told.get(changed) === error) return undefined;
      told.set(changed, error);
      return `The MCP server ${changed} failed: ${error}`;
    },
    signIn: ({ server }: EventOf<"sign-in.required">): string =>
      `The MCP server ${server} needs a sign-in: tinman mcp login ${server}`,
  };
}

/** `undefined` if no server is connecting. */
export function connectingWords({ servers }: EventOf<"servers.changed">): string | undefined {
  const names = servers.filter(({ status }) => status === "connecting").map(({ name }) => name);
  return names.length === 0 ? undefined : `connecting to ${names.join(", ")}`;
}
