import { AgentError } from "../errors.ts";
import type { ServerPrompt } from "./tool-servers.ts";

/** The command of a server's prompt, without its slash; `undefined` if its name cannot be typed as one word. */
export function commandName({ server, name }: Pick<ServerPrompt, "server" | "name">): string | undefined {
  return /^[^\s\p{C}]{1,200}$/u.test(name) ? `mcp:${server}:${name}` : undefined;
}

/** For people: `<title> [language]`. */
export function argumentHint({ arguments: named }: ServerPrompt): string {
  return named.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");
}

/**
 * The arguments after a command: `name=value`, or values in the prompt's order, the last of which takes the rest. A value
 * with spaces can be in double quotes. Throws `usage`.
 */
export function valuesIn(prompt: ServerPrompt, text: string): Readonly<Record<string, string>> {
  const rest = text.trim();
  const values = namedValues(prompt, rest) ?? valuesInOrder(prompt, rest);
  const missing = prompt.arguments.filter(({ name, required }) => required && values[name] === undefined);
  if (missing.length > 0) throw misused(prompt, `lacks ${missing.map(({ name }) => name).join(", ")}`);
  return values;
}

const namedValue = /([^\s="]+)=(?:"([^"]*)"|(\S*))\s*/y;

function namedValues(prompt: ServerPrompt, rest: string): Readonly<Record<string, string>> | undefined {
  const known = new Set(prompt.arguments.map(({ name }) => name));
  const values: [string, string][] = [];
  namedValue.lastIndex = 0;
  for (let at = 0; at < rest.length; at = namedValue.lastIndex) {
    namedValue.lastIndex = at;
    const [, name, quoted, plain = ""] = namedValue.exec(rest) ?? [];
    if (name === undefined || !known.has(name)) return undefined;
    values.push([name, quoted ?? plain]);
  }
  return Object.fromEntries(values);
}

const nextValue = /(?:"([^"]*)"|(\S+))\s*/y;

function valuesInOrder(prompt: ServerPrompt, rest: string): Readonly<Record<string, string>> {
  const names = prompt.arguments.map(({ name }) => name);
  const last = names.pop();
  if (last === undefined) {
    if (rest !== "") throw misused(prompt, "takes no arguments");
    return {};
  }
  const values: [string, string][] = [];
  let at = 0;
  for (const name of names) {
    nextValue.lastIndex = at;
    const [whole, quoted, plain = ""] = nextValue.exec(rest) ?? [];
    if (whole === undefined) return Object.fromEntries(values);
    values.push([name, quoted ?? plain]);
    at += whole.length;
  }
  const remaining = rest.slice(at);
  const value = /^"([^"]*)"$/.exec(remaining)?.[1] ?? remaining;
  return Object.fromEntries(value === "" ? values : [...values, [last, value]]);
}

function misused(prompt: ServerPrompt, what: string): AgentError {
  const command = `/${commandName(prompt) ?? prompt.name}`;
  const usage = `${command} ${argumentHint(prompt)}`.trimEnd();
  return new AgentError("usage", `${command} ${what}. Usage: ${usage}`);
}
