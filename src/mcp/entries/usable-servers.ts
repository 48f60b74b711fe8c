import { expandEntry } from "./expand-entry.ts";
import type { SourcedServer, WrittenServer } from "./sourced-server.ts";

const mostNamed = 8;

/** Servers as sessions use them, and what their users should know. */
export function usable(
  written: readonly WrittenServer[],
  problems: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { readonly servers: readonly SourcedServer[]; readonly problems: readonly string[] } {
  const told = [...problems];
  const servers = written.flatMap(({ name, entry, file, disabledTools, offer }): readonly SourcedServer[] => {
    const isUntrusted = offer !== undefined && offer.trust !== "trusted";
    const server: SourcedServer = {
      name,
      entry,
      source: file === ".mcp.json" ? "project" : "user",
      ...(disabledTools === undefined ? {} : { disabledTools }),
      ...(isUntrusted ? { isUntrusted } : {}),
    };
    if (isUntrusted || entry.isDisabled === true) return [server];
    const whole = expandEntry(server, env);
    if ("entry" in whole) return [{ ...server, entry: whole.entry }];
    told.push(whole.fault);
    return [];
  });
  const notice = untrustedNotice(servers);
  return { servers, problems: notice === undefined ? told : [...told, notice] };
}

function untrustedNotice(servers: readonly SourcedServer[]): string | undefined {
  const waiting = servers.filter(({ entry, isUntrusted }) => isUntrusted === true && entry.isDisabled !== true);
  if (waiting.length === 0) return undefined;
  const more = waiting.length - mostNamed;
  const names = [...waiting.slice(0, mostNamed).map(({ name }) => name), ...(more > 0 ? [`${more} more`] : [])];
  const [nouns, verb, them] = waiting.length === 1 ? ["server", "It is", "it"] : ["servers", "They are", "them"];
  const review = `Review ${them} with: tinman mcp trust`;
  return `.mcp.json names the ${nouns} ${names.join(", ")}. ${verb} not started. ${review}`;
}
