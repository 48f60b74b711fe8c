import { serverNameFault } from "../../engine/servers/server-entry.ts";
import { durationMs, durationRule } from "../../text/user-words.ts";
import { ruleWords } from "../rules/rule-words.ts";
import { privateHostFault } from "../serve/private-host.ts";
import { folderFault, hostFault, originFault, tokenHashFault, userNameFault } from "../serve/serve-words.ts";
import {
  commandFault,
  environmentNameFault,
  headerFault,
  headerNameFault,
  notTrue,
  serverFault,
  serverTextFault,
  serverUrlFault,
} from "../servers/server-words.ts";
import type { Checks, Fault } from "./form.ts";
import { hasBrokenVariable } from "./variables.ts";

/** Checks that JSON Schema cannot express. The schema and `config-forms.json` refer to them by name. */
export const namedChecks = {
  allowRule: (text: string) => ruleFault(text, "allow"),
  denyRule: (text: string) => ruleFault(text, "deny"),
  privateHost: privateHostFault,
  modelName: (name: string) => {
    if (name !== "offline" && !name.startsWith("script:")) return undefined;
    return `"${name}" is reserved for ${name === "offline" ? "the offline model" : "scripted models"}. Choose another name`;
  },
  variables: variableFault,
  apiKey: (key: string) => (key.trim() === "" ? "is empty. Leave it out if no key is needed" : variableFault(key)),
  uniqueModels: (entries: readonly { readonly id: string }[]) =>
    duplicateFault(entries.map(({ id }, at) => ({ path: [at, "id"], text: id }))),
  duration: (value: string | number) => (durationMs(value) === undefined ? lowerFirst(durationRule) : undefined),
  userName: userNameFault,
  host: hostFault,
  origin: originFault,
  folder: folderFault,
  writableFolder: (folder: string) => (folder.startsWith("~/") ? undefined : folderFault(folder)),
  tokenHash: tokenHashFault,
  users: usersFault,
  serverName: serverNameFault,
  serverText: serverTextFault,
  serverCommand: commandFault,
  serverUrl: serverUrlFault,
  headerName: headerNameFault,
  headerText: headerFault,
  environmentName: environmentNameFault,
  notTrue,
  server: serverFault,
} satisfies Checks;

export type CheckName = keyof typeof namedChecks;

function ruleFault(text: string, use: "allow" | "deny"): string | undefined {
  const read = ruleWords(text, use);
  return "fault" in read ? read.fault : undefined;
}

/** The text is not quoted: it may be part of a key. */
function variableFault(text: string): string | undefined {
  return hasBrokenVariable(text) ? `has a malformed variable. Write \${NAME}` : undefined;
}

interface User {
  readonly name: string;
  readonly role: string;
  readonly tokens: readonly string[];
}

const ceilings: readonly string[] = ["folders", "autonomy", "models"];

/** Users with one name would share sessions, and a token must identify one user. */
function usersFault(users: readonly User[]): Fault | undefined {
  for (const [at, user] of users.entries()) {
    const ceiling = user.role === "user" ? undefined : Object.keys(user).find((key) => ceilings.includes(key));
    if (ceiling === undefined) continue;
    return {
      path: [at, ceiling],
      words: `applies only to the role user, but "${user.name}" has ${user.role}. Remove it`,
    };
  }
  return (
    duplicateFault(users.map(({ name }, at) => ({ path: [at, "name"], text: name }))) ??
    duplicateFault(
      users.flatMap(({ tokens }, at) => tokens.map((text, of) => ({ path: [at, "tokens", of], text }))),
      () => "is a duplicate: each token belongs to one user",
    )
  );
}

function duplicateFault(
  texts: readonly { readonly path: Fault["path"]; readonly text: string }[],
  wordsOf = (text: string): string => `duplicate ${JSON.stringify(text)}`,
): Fault | undefined {
  const seen = new Set<string>();
  for (const { path, text } of texts) {
    if (seen.has(text)) return { path, words: wordsOf(text) };
    seen.add(text);
  }
  return undefined;
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
