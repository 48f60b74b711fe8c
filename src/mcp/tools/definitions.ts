import { createHmac } from "node:crypto";
import type { Rest } from "../../async/long-texts.ts";
import { isNestedDeeper } from "../../text/json-size.ts";
import { textStart } from "../../text/text-cut.ts";
import { fieldsOf, isRecord, listOf, textOf } from "../../text/values.ts";
import type { Link } from "../connection/link.ts";
import { ServerProblem } from "../server-problem.ts";

/** A tool as its server defines it, checked and bounded. */
export interface ToolDefinition {
  /** The server's own name for it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments, as text. */
  readonly inputSchema: string;
  readonly isReadOnly: boolean;
  /** Changes with the definition. */
  readonly mark: string;
}

export interface ToolList {
  readonly tools: readonly ToolDefinition[];
  /** Definitions that were left out, because they are malformed or too many. */
  readonly leftOut: number;
}

const mostTools = 1000;
const mostBytes = 4 * 1024 * 1024;
const mostPages = 200;
const mostDescription = 8000;
const mostName = 200;
const mostSchema = 256 * 1024;
/** Deeper ones could exhaust the stack of whatever walks them. */
const mostSchemaDepth = 64;

/** Marks are kept in session logs, and an entry can hold secrets, so they mean nothing outside this process. */
const markKey = crypto.randomUUID();

export function markOf(...parts: readonly unknown[]): string {
  return createHmac("sha256", markKey).update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}

/** The server's tools, in its order. Rejects if the server fails. */
export async function listTools(link: Link, serverMark: string, signal: AbortSignal, rest: Rest): Promise<ToolList> {
  if (link.capabilities.tools === undefined) return { tools: [], leftOut: 0 };
  const tools = new Map<string, ToolDefinition>();
  let leftOut = 0;
  let bytes = 0;
  for await (const item of pagedItems(link, "tools", signal)) {
    await rest();
    const definition = definitionOf(item, serverMark);
    const size = definition === undefined ? 0 : definition.description.length + definition.inputSchema.length;
    const isTooMuch = tools.size >= mostTools || bytes + size > mostBytes;
    if (definition === undefined || isTooMuch || tools.has(definition.name)) {
      leftOut += 1;
      continue;
    }
    bytes += size;
    tools.set(definition.name, definition);
  }
  return { tools: [...tools.values()], leftOut };
}

/** The items of all pages of a list. Stops after many pages, and items, because some servers never end. */
export async function* pagedItems(
  link: Link,
  kind: "tools" | "prompts" | "resources",
  signal: AbortSignal,
): AsyncGenerator<unknown, void, void> {
  let cursor: string | undefined;
  let seen = 0;
  for (let page = 0; page < mostPages && seen <= 2 * mostTools; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result: Readonly<Record<string, unknown>> = await link.request(`${kind}/list`, params, { signal });
    const items = listOf(result[kind]);
    if (!Array.isArray(result[kind])) throw new ServerProblem(`The server's list of ${kind} is malformed.`);
    for (const item of items) {
      seen += 1;
      yield item;
    }
    const next = textOf(result.nextCursor);
    if (next === undefined || next === "" || next === cursor) return;
    cursor = next;
  }
}

function definitionOf(item: unknown, serverMark: string): ToolDefinition | undefined {
  const { name, description, inputSchema, annotations } = fieldsOf(item);
  if (typeof name !== "string" || name === "" || name.length > mostName || !name.isWellFormed()) return undefined;
  const schema = schemaText(inputSchema);
  if (schema === undefined) return undefined;
  const told = textStart(textOf(description)?.toWellFormed() ?? "", mostDescription);
  const isReadOnly = fieldsOf(annotations).readOnlyHint === true;
  return {
    name,
    description: told,
    inputSchema: schema,
    isReadOnly,
    mark: markOf(serverMark, name, textOf(description) ?? "", schema, isReadOnly),
  };
}

/** Providers accept only schemas of objects. */
function schemaText(schema: unknown): string | undefined {
  if (schema === undefined) return '{"type":"object"}';
  if (!isRecord(schema)) return undefined;
  const text = JSON.stringify(schema.type === "object" ? schema : { ...schema, type: "object" });
  return text.length > mostSchema || isNestedDeeper(text, mostSchemaDepth) ? undefined : text.toWellFormed();
}
