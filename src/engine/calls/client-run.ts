import { z } from "zod";
import type { ToolBody, ToolOutput } from "../tool.ts";
import { defineTool, failed, succeeded } from "../tool.ts";

/** Passes the model's input to the client unchecked: nothing runs here. */
export function clientRun(name: string, withinMs: number | undefined): ToolBody {
  return defineTool({
    input: z.unknown(),
    access: async () => [],
    async run(input, { callId, signal, ask }): Promise<ToolOutput> {
      const answer = await ask({ kind: "tool", call: { type: "tool_call", id: callId, name, input } }, withinMs);
      if (answer?.kind === "result") return answer.isError === true ? failed(answer.text) : succeeded(answer.text);
      if (signal.aborted) return { text: "Error: Tool execution cancelled by user", status: "interrupted" };
      const why = answer?.kind === "cancel" ? answer.why : undefined;
      return failed(`The client did not run ${name}: ${why ?? "no client that can run tools is connected"}.`);
    },
  });
}
