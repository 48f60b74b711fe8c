import { AgentError } from "../../engine/errors.ts";
import type { Tool, ToolKind } from "../../engine/tool.ts";
import type { Output } from "../../frontends/front-end.ts";
import type { GivenExec } from "./exec-options.ts";

/** The id in listings: `TodoWrite` is `todo-write-cli`. */
function idOf(name: string): string {
  return `${name.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}-cli`;
}

/** Resolves names or ids in any case. Throws `usage` for an unknown one. Tools of MCP servers appear later, if at all. */
export function toolNames(given: readonly string[], tools: readonly Tool[]): readonly string[] {
  return given.map((word) => {
    if (word.includes("___")) return word;
    const wanted = word.toLowerCase();
    const tool = tools.find(({ name }) => name.toLowerCase() === wanted || idOf(name) === wanted);
    if (tool !== undefined) return tool.name;
    const known = tools.map(({ name }) => name).join(", ");
    throw new AgentError("usage", `Unknown tool ${JSON.stringify(word)}. Available: ${known}.`);
  });
}

const groups: readonly { readonly title: string; readonly kinds: readonly ToolKind[] }[] = [
  { title: "Read", kinds: ["read", "plan", "ask"] },
  { title: "Edit", kinds: ["edit"] },
  { title: "Execute", kinds: ["execute"] },
  { title: "Web", kinds: ["fetch"] },
];

export async function listTools(tools: readonly Tool[], given: GivenExec, output: Output): Promise<void> {
  const entries = tools.map((tool) => {
    const category = groups.find(({ kinds }) => kinds.includes(tool.kind))?.title.toLowerCase() ?? "read";
    return {
      id: idOf(tool.name),
      llmId: tool.name,
      displayName: tool.title,
      description: tool.description.split("\n")[0],
      category,
      defaultAllowed: tool.kind !== "edit" && tool.kind !== "fetch",
      currentlyAllowed: isAllowed(tool, given),
    };
  });
  if (given.outputFormat === "json") return output.write(`${JSON.stringify(entries)}\n`);
  const level = given.skipPermissionsUnsafe === true ? "unsafe" : (given.auto ?? "read-only");
  const lines = ["Tools", `Autonomy: ${level}`];
  for (const { title } of groups) {
    lines.push("", title);
    for (const entry of entries.filter(({ category }) => category === title.toLowerCase())) {
      const limited = entry.category === "execute" && given.auto === undefined && given.skipPermissionsUnsafe !== true;
      const status = entry.currentlyAllowed ? `allowed${limited ? " (commands that only read)" : ""}` : "blocked";
      lines.push(`  - ${entry.llmId} (${entry.displayName}) - status: ${status}`);
    }
  }
  await output.write(`${lines.join("\n")}\n`);
}

function isAllowed({ name, kind }: Tool, given: GivenExec): boolean {
  if (given.disabledTools?.includes(name) === true) return false;
  if (given.skipPermissionsUnsafe === true) return true;
  if (kind !== "edit" && kind !== "fetch") return true;
  if (given.useSpec === true) return false;
  if (kind === "fetch" && given.auto === "low") return given.enabledTools?.includes(name) === true;
  return given.auto !== undefined || given.enabledTools?.includes(name) === true;
}
