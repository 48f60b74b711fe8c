import { createPace } from "../async/pace.ts";
import type { ServerPrompt } from "../engine/servers/tool-servers.ts";
import { fieldsOf, listOf, textOf } from "../text/values.ts";
import type { Link } from "./connection/link.ts";
import { shownLine } from "./server-problem.ts";
import { pagedItems } from "./tools/definitions.ts";
import { partsOf } from "./tools/results.ts";

const mostPrompts = 200;
const mostArguments = 20;
const mostName = 100;
const mostText = 200_000;

/** The prompts that a server offers to people. Empty if it cannot list them. */
export async function listPrompts(link: Link, server: string, signal: AbortSignal): Promise<readonly ServerPrompt[]> {
  if (link.capabilities.prompts === undefined) return [];
  const prompts = new Map<string, ServerPrompt>();
  try {
    for await (const item of pagedItems(link, "prompts", signal)) {
      const { name, description, arguments: wanted } = fieldsOf(item);
      if (!isName(name)) continue;
      const told = textOf(description);
      prompts.set(name, {
        server,
        name,
        ...(told === undefined ? {} : { description: shownLine(told, 500) }),
        arguments: listOf(wanted).slice(0, mostArguments).flatMap(argumentOf),
      });
      if (prompts.size >= mostPrompts) break;
    }
  } catch {
    // Prompts are for convenience, and no reason to refuse a server.
  }
  return [...prompts.values()];
}

function argumentOf(item: unknown): ServerPrompt["arguments"] {
  const { name, description, required } = fieldsOf(item);
  if (!isName(name)) return [];
  const told = textOf(description);
  return [{ name, required: required === true, ...(told === undefined ? {} : { description: shownLine(told, 500) }) }];
}

function isName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= mostName && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name);
}

/** The text of a prompt's messages. Rejects with an error of the server. */
export async function promptText(
  link: Link,
  name: string,
  values: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const result = await link.request("prompts/get", { name, arguments: values }, { signal });
  const contents = listOf(result.messages).flatMap((message) => {
    const { content } = fieldsOf(message);
    return Array.isArray(content) ? content : [content];
  });
  const pace = createPace();
  const noImages = async () => ({ why: "prompts are text" });
  const { texts } = await partsOf(contents, noImages, () => pace.rest());
  return texts.join("\n\n").slice(0, mostText).toWellFormed();
}
