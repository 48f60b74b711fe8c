import { isRecord } from "../../text/values.ts";

/* The rules of MCP server entries, for config.yaml and for JSON files. Values are not quoted: they may be keys. */

const variable = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** The names of the variables in `${NAME}`, `${env:NAME}` and `${NAME:-default}`, in order and once. */
export function variablesOf(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(variable), ([, name = ""]) => name))];
}

/** Replaces variables. `missing`: those without a value or default. */
export function expanded(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly text: string; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const result = text.replace(variable, (_, name: string, instead?: string) => {
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    if (instead === undefined) missing.push(name);
    return instead ?? "";
  });
  return { text: result, missing };
}

/** A text with variables. */
export function serverTextFault(text: string): string | undefined {
  if (text.includes("\0")) return "has a NUL character";
  return text.replace(variable, "").includes("${")
    ? `has a malformed variable. Write \${NAME}, or \${NAME:-default}`
    : undefined;
}

export function commandFault(text: string): string | undefined {
  return text.trim() === "" ? "must not be empty" : serverTextFault(text);
}

export function serverUrlFault(text: string): string | undefined {
  return serverTextFault(text) ?? (variablesOf(text).length > 0 ? undefined : addressFault(text));
}

/** An address without variables. */
export function addressFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return "must be an address with http:// or https://";
  return url.username === "" && url.password === "" ? undefined : "must have no user or password. Use headers";
}

export function headerNameFault(name: string): string | undefined {
  return /^[!#$%&'*+.^`|~\w-]+$/.test(name) ? undefined : "is not a valid header name";
}

export function headerFault(text: string): string | undefined {
  return /[\r\n]/.test(text) ? "must be one line" : serverTextFault(text);
}

export function environmentNameFault(name: string): string | undefined {
  return name === "" || /[=\0]/.test(name) ? "is not a valid variable name" : undefined;
}

/** For values that `false` switches off. */
export function notTrue(value: unknown): string | undefined {
  return value === true ? "cannot be true" : undefined;
}

const ofCommands = ["command", "args", "env", "contained"] as const;
const ofAddresses = ["url", "headers", "oauth"] as const;

/** How an entry is reached, or why that is unclear. */
export function reachOf(entry: {
  readonly type?: string | undefined;
  readonly command?: string | undefined;
  readonly url?: string | undefined;
}): { readonly kind: "stdio" | "http" | "sse" } | { readonly fault: string } {
  const { type, command, url } = entry;
  if (command === undefined && url === undefined) return { fault: "needs a command or a url" };
  if (command !== undefined && url !== undefined && type === undefined) {
    return { fault: "has a command and a url. Remove one" };
  }
  if (type === "stdio" && command === undefined) return { fault: "has the type stdio, which needs a command" };
  if (type !== undefined && type !== "stdio" && url === undefined) {
    return { fault: `has the type ${type}, which needs a url` };
  }
  if (type === "sse" || type === "http") return { kind: type };
  return { kind: command === undefined ? "http" : "stdio" };
}

/** Also names keys that would have no effect. */
export function serverFault(entry: unknown): string | undefined {
  if (!isRecord(entry)) return undefined;
  const reach = reachOf(entry);
  if ("fault" in reach) return reach.fault;
  const [others, needs] = reach.kind === "stdio" ? [ofAddresses, "a url"] : [ofCommands, "a command"];
  const unused = others.find((key) => entry[key] !== undefined);
  return unused === undefined ? undefined : `has ${unused}, which needs ${needs}`;
}
