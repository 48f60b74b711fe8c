import type { SourcedServer } from "./sources.ts";

const mostNamed = 8;

/** A notice for the user about untrusted servers; `undefined` if there are none. */
export function untrustedNotice(servers: readonly SourcedServer[]): string | undefined {
  const names = servers.filter(({ entry, isUntrusted }) => isUntrusted === true && entry.isDisabled !== true);
  if (names.length === 0) return undefined;
  const more = names.length - mostNamed;
  const list = [...names.slice(0, mostNamed).map(({ name }) => name), ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const [nouns, verb, them] = names.length === 1 ? ["server", "It is", "it"] : ["servers", "They are", "them"];
  return `.mcp.json names the ${nouns} ${list}. ${verb} not started. Review ${them} with: tinman mcp trust`;
}
