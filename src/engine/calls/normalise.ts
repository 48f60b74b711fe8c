import { jsonBytes } from "../../text/output.ts";
import { fieldsOf, isRecord, textsOf } from "../../text/values.ts";
import type { AssistantMessage, ReplyBlock, ToolCallBlock } from "../message.ts";
import type { Tool } from "../tool.ts";
import { callAliases, editorCommands, editorNames, idleEverywhere, neverIgnored } from "./call-aliases.ts";
import { type Fields, folded, listIn, shapes } from "./call-shapes.ts";

interface OwnTools {
  readonly tools: readonly Tool[];
  /** The JSON Schema of a tool's arguments. */
  schemaOf(tool: Tool): Promise<unknown>;
  readonly cwd: string;
  /** The client runs every tool, and interprets the model's input itself. */
  readonly clientRunsTools: boolean;
}

/** The model's own text of a reply's calls, kept in the log beside the normalised calls. */
const mostRawBytes = 2 * 1024 * 1024;

/** A reply with its calls renamed to this program's tools and schemas. Unknown calls stay unchanged. */
export async function normaliseCalls(message: AssistantMessage, own: OwnTools): Promise<AssistantMessage> {
  if (own.clientRunsTools || !message.content.some(({ type }) => type === "tool_call")) return message;
  let room = mostRawBytes;
  const content: ReplyBlock[] = [];
  for (const block of message.content) {
    const call = block.type === "tool_call" ? await normalise(block, own) : undefined;
    if (call?.raw === undefined) {
      content.push(call ?? block);
      continue;
    }
    room -= jsonBytes(JSON.stringify(call.raw.input) ?? "");
    const { raw: _, ...withoutRaw } = call;
    content.push(room >= 0 ? call : withoutRaw);
  }
  return { ...message, content };
}

/** Whether a call by this name is shown only once complete, because until then its tool is ambiguous. */
export function isAlias(name: string, own: Pick<OwnTools, "tools" | "clientRunsTools">): boolean {
  if (own.clientRunsTools) return false;
  const target = targetOf(name, {}, own.tools);
  return target === undefined ? editorKeys.has(keyOf(name)) : target.name !== name;
}

async function normalise(call: ToolCallBlock, own: OwnTools): Promise<ToolCallBlock> {
  const given = objectIn(call.input);
  const target = targetOf(call.name, given, own.tools);
  if (target === undefined) return call;
  const { name, tool, fixed } = target;
  if (tool === undefined || tool.runBy === "client" || !isRecord(given)) {
    return name === call.name ? call : { ...call, name, raw: { name: call.name, input: call.input } };
  }
  // A tool that was removed reports that when the call runs.
  const schema = fieldsOf(await own.schemaOf(tool).catch(() => undefined));
  const { input, ignored, isChanged } = normaliseInput({
    name,
    given,
    fixed,
    schema,
    cwd: own.cwd,
  });
  if (name === call.name && !isChanged && given === call.input) return call;
  const words = ignored.length === 0 ? {} : { ignored };
  return { ...call, name, input, raw: { name: call.name, input: call.input, ...words } };
}

interface Target {
  /** Also applies to tools that this session lacks: the call is refused under that name. */
  readonly name: string;
  readonly tool?: Tool;
  /** Arguments that the name implies. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** The tool that a call means: by its own name, else by a different spelling, else by an alias. */
function targetOf(written: string, given: unknown, tools: readonly Tool[]): Target | undefined {
  const exact = tools.find(({ name }) => name === written);
  if (exact !== undefined) return { name: written, tool: exact, fixed: {} };
  const key = keyOf(written);
  const spelled = tools.find(({ name }) => folded(name) === key);
  if (spelled !== undefined) return { name: spelled.name, tool: spelled, fixed: {} };
  const known = ownNames.get(key) ?? (editorKeys.has(key) ? editorTarget(given) : undefined);
  if (known === undefined) return undefined;
  const tool = tools.find(({ name }) => name === known.name);
  return tool === undefined ? known : { ...known, tool };
}

function keyOf(written: string): string {
  return folded(written.replace(/^(?:functions|default_api|tools?)[.:]/, ""));
}

/** Keyed by folded name. */
const ownNames: ReadonlyMap<string, Target> = new Map(
  Object.entries(callAliases).flatMap(([name, { names }]) => [
    [folded(name), { name, fixed: {} }] as const,
    ...Object.entries(names).map(([alias, fixed]) => [folded(alias), { name, fixed }] as const),
  ]),
);

const editorKeys: ReadonlySet<string> = new Set(editorNames.map(folded));

function editorTarget(given: unknown): Target | undefined {
  const command = fieldsOf(given).command;
  const name = typeof command === "string" && Object.hasOwn(editorCommands, command) && editorCommands[command];
  return name ? { name, fixed: { command: undefined } } : undefined;
}

/** Some models write the object as a string. */
function objectIn(input: unknown): unknown {
  if (typeof input !== "string" || !input.trimStart().startsWith("{")) return input;
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}

interface Given {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly cwd: string;
}

function normaliseInput({ name, given, fixed, schema, cwd }: Given): {
  readonly input: unknown;
  readonly ignored: readonly string[];
  readonly isChanged: boolean;
} {
  const row = Object.hasOwn(callAliases, name) ? callAliases[name] : undefined;
  const properties = fieldsOf(schema.properties);
  const required = textsOf(schema.required);
  const isOwn = (key: string): boolean => Object.hasOwn(properties, key);

  const fields: Fields = new Map(Object.entries(given).filter(([key]) => isOwn(key) || !Object.hasOwn(fixed, key)));
  for (const [key, value] of [...fields]) {
    const own = isOwn(key) ? key : ownKey(key, Object.keys(properties), row?.arguments ?? {});
    if (own === undefined || own === key || fields.has(own)) continue;
    fields.delete(key);
    fields.set(own, value);
  }
  for (const [key, value] of Object.entries(fixed)) if (isOwn(key) && !fields.has(key)) fields.set(key, value);
  if (row !== undefined && Object.hasOwn(shapes, name)) shapes[name]?.(fields, { cwd });

  const ignored: string[] = [];
  const idle = [...idleEverywhere, ...(row?.idle ?? [])].map(folded);
  for (const [key, value] of [...fields]) {
    if (isOwn(key)) {
      if (value === null && !required.includes(key)) fields.delete(key);
      else fields.set(key, coerced(value, fieldsOf(properties[key]), row?.values?.[key]));
    } else if (schema.additionalProperties === false && !isNeverIgnored(key)) {
      fields.delete(key);
      if (!idle.includes(folded(key))) ignored.push(key);
    }
  }
  const input = Object.fromEntries(fields);
  const isChanged = JSON.stringify(input) !== JSON.stringify(given);
  return { input: isChanged ? input : given, ignored, isChanged };
}

function ownKey(
  key: string,
  properties: readonly string[],
  aliases: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const wanted = folded(key);
  const spelled = properties.find((name) => folded(name) === wanted);
  if (spelled !== undefined) return spelled;
  return properties.find((name) => aliases[name]?.some((alias) => folded(alias) === wanted) === true);
}

function isNeverIgnored(key: string): boolean {
  return neverIgnored.some((name) => folded(name) === folded(key));
}

/** Converts a value to the schema's type, if it clearly means one. */
function coerced(
  value: unknown,
  schema: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> | undefined,
): unknown {
  const { type } = schema;
  if (typeof value === "string") {
    const text = value.trim();
    if ((type === "number" || type === "integer") && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return Number(text);
    if (type === "boolean" && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
    if (type === "array") return listIn(text) ?? [value];
    const values = textsOf(schema.enum);
    if (values.length === 0 || values.includes(value)) return value;
    if (names !== undefined && Object.hasOwn(names, folded(value))) return names[folded(value)];
    return values.find((one) => folded(one) === folded(text)) ?? value;
  }
  return value;
}
