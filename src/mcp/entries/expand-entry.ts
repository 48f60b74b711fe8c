import { addressFault, expanded, headerFault, variablesOf } from "../../config/servers/server-words.ts";
import type { NamedServer, ServerEntry } from "../../engine/servers/server-entry.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Replaces an entry's variables. `fault`, one sentence without values, if one is missing or what results is invalid. */
export function expandEntry(
  { name, entry }: NamedServer,
  env: Variables,
): { readonly entry: ServerEntry } | { readonly fault: string } {
  const missing = new Set<string>();
  const result = mapTexts(entry, (text) => {
    const { text: value, missing: found } = expanded(text, env);
    for (const variable of found) missing.add(variable);
    return value;
  });
  const fault = missing.size > 0 ? unset([...missing]) : faultIn(result);
  return fault === undefined ? { entry: result } : { fault: `The MCP server ${name} is not used: ${fault}.` };
}

/** The variables that an entry names. */
export function variablesIn(entry: ServerEntry): readonly string[] {
  const found: string[] = [];
  mapTexts(entry, (text) => {
    found.push(...variablesOf(text));
    return text;
  });
  return [...new Set(found)];
}

function unset(names: readonly string[]): string {
  if (names.length === 1) return `the variable ${names[0]} is not set`;
  return `the variables ${names.join(", ")} are not set`;
}

function faultIn(entry: ServerEntry): string | undefined {
  if (entry.kind === "stdio") return entry.command.trim() === "" ? "its command is empty" : undefined;
  const fault = addressFault(entry.url);
  if (fault !== undefined) return `its url ${fault}`;
  const bad = Object.entries(entry.headers).find(([, value]) => headerFault(value) !== undefined);
  return bad === undefined ? undefined : `its header ${bad[0]} must be one line`;
}

function mapTexts(entry: ServerEntry, change: (text: string) => string): ServerEntry {
  const values = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
  if (entry.kind === "stdio") {
    return { ...entry, command: change(entry.command), args: entry.args.map(change), env: values(entry.env) };
  }
  const { oauth } = entry;
  const signIn =
    oauth === undefined || oauth === false || oauth.clientSecret === undefined
      ? {}
      : { oauth: { ...oauth, clientSecret: change(oauth.clientSecret) } };
  return { ...entry, url: change(entry.url), headers: values(entry.headers), ...signIn };
}
