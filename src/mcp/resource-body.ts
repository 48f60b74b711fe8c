import { z } from "zod";
import { createPace } from "../async/pace.ts";
import { defineTool, failed, succeeded, type ToolBody, type ToolOutput } from "../engine/tool.ts";
import { fieldsOf, listOf, textOf } from "../text/values.ts";
import type { Link } from "./connection/link.ts";
import type { ResourceParts } from "./resource-parts.ts";
import { shownLine } from "./server-problem.ts";
import { faultOf } from "./tools/calls.ts";
import { markOf, pagedItems } from "./tools/definitions.ts";
import { type CheckImage, partsOf } from "./tools/results.ts";

const mostListed = 500;
const tool = "resources/read";

export function resourceBody({ find, names, checkImage }: ResourceParts): ToolBody {
  return defineTool({
    input: z.strictObject({
      server: z.string("server is required and must be a string"),
      uri: z.string("uri must be a string").optional(),
    }),
    async access({ server }) {
      const connection = find(server);
      if (connection === undefined) throw new Error(unknown(server, names()));
      const marks = { server: connection.mark, tool: markOf(connection.mark, tool) };
      return [{ type: "server", class: "low", server, tool, marks }];
    },
    preview: async ({ server }) => ({ type: "server", server, tool }),
    async run({ server, uri }, { signal }) {
      const connection = find(server);
      if (connection === undefined) return failed(unknown(server, names()));
      try {
        const link = await connection.use(signal);
        if (link.capabilities.resources === undefined) return failed(unknown(server, names()));
        return uri === undefined ? await listed(link, signal) : await read(link, uri, signal, checkImage);
      } catch (error) {
        if (signal.aborted) return { text: "Error: Tool execution cancelled by user", status: "interrupted" };
        return failed(faultOf(server, error));
      }
    },
  });
}

function unknown(server: string, names: readonly string[]): string {
  return `The server ${shownLine(server, 64)} has no resources. Servers with resources: ${names.join(", ") || "none"}`;
}

async function listed(link: Link, signal: AbortSignal): Promise<ToolOutput> {
  const lines: string[] = [];
  for await (const item of pagedItems(link, "resources", signal)) {
    const { uri, name, description, mimeType } = fieldsOf(item);
    const told = [textOf(name), textOf(description), textOf(mimeType)].filter((word) => word !== undefined);
    lines.push(`${shownLine(textOf(uri) ?? "", 500)} – ${shownLine(told.join(", "), 300)}`);
    if (lines.length >= mostListed) break;
  }
  const templates = await link.request("resources/templates/list", {}, { signal }).catch(() => undefined);
  for (const item of listOf(templates?.resourceTemplates).slice(0, 100)) {
    const { uriTemplate, description } = fieldsOf(item);
    lines.push(`${shownLine(textOf(uriTemplate) ?? "", 500)} – ${shownLine(textOf(description) ?? "a template", 300)}`);
  }
  return succeeded(lines.length === 0 ? "The server lists no resources." : lines.join("\n"));
}

async function read(link: Link, uri: string, signal: AbortSignal, checkImage: CheckImage): Promise<ToolOutput> {
  const result = await link.request("resources/read", { uri }, { signal });
  const contents = listOf(result.contents).map((resource) => ({ type: "resource", resource }));
  const pace = createPace();
  const { texts, media } = await partsOf(contents, checkImage, () => pace.rest());
  const text = texts.join("\n\n") || "The resource is empty.";
  return { text, status: "ok", ...(media.length === 0 ? {} : { media }) };
}
