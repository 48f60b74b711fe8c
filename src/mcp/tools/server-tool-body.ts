import { z } from "zod";
import { defineTool, failed, type ToolBody } from "../../engine/tool.ts";
import { type Fields, isRecord } from "../../text/values.ts";
import { shownLine } from "../server-problem.ts";
import type { CalledTool } from "./called-tool.ts";

/** The server checks the arguments; its own schema could be hostile. */
const anyArguments = z.custom<Fields>(isRecord, "The arguments must be an object.");

export function serverToolBody({ owner, call, class: own }: CalledTool): ToolBody {
  const { server, tool, marks } = call;
  const change = (): string | undefined => {
    const now = owner.markOf(tool);
    if (now === marks.tool) return undefined;
    const what = `The tool ${shownLine(tool, 80)} of the server ${server}`;
    return now === undefined
      ? `${what} is no longer available. Nothing was run.`
      : `${what} has changed since it was offered, so nothing was run. Look at its new description.`;
  };
  return defineTool({
    input: anyArguments,
    async access() {
      const changed = change();
      if (changed !== undefined) throw new Error(changed);
      return [{ type: "server", class: own, ...call }];
    },
    preview: async () => ({ type: "server", server, tool }),
    async run(input, context) {
      const changed = change();
      return changed === undefined ? owner.call(tool, input, context) : failed(changed);
    },
  });
}
