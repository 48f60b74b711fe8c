import { headAndTail, modelOutputLimit, outputLimit } from "../../text/output.ts";
import { textStart } from "../../text/text-cut.ts";
import type { ToolCallBlock, ToolResultBlock } from "../message.ts";
import type { Host } from "../ports.ts";
import type { Tool, ToolOutput } from "../tool.ts";

interface ResultContext {
  readonly sessionId: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly host: Host;
}

/** A tool's result, limited in length, with a note for the model about unknown arguments. */
export async function resultOf(
  call: ToolCallBlock,
  output: ToolOutput,
  context: ResultContext,
  reminders: readonly string[],
): Promise<ToolResultBlock> {
  const { endTurn: _, status, ...bounded } = await bound(call, output, context);
  const told = reminders.length === 0 ? {} : { reminders };
  const result = { type: "tool_result", callId: call.id, name: call.name, status, ...bounded, ...told } as const;
  const ignored = call.raw?.ignored ?? [];
  if (ignored.length === 0) return result;
  const names = ignored.slice(0, 10).map((name) => textStart(name, 50));
  const note = `[${call.name} has no argument ${names.join(", ")}: ignored.]`;
  return { ...result, forModel: `${bounded.forModel ?? bounded.text}\n\n${note}` };
}

/** Cuts long output to head and tail, and stores all of it in a file named in the result. */
async function bound(call: ToolCallBlock, output: ToolOutput, context: ResultContext): Promise<ToolOutput> {
  const { text, forModel } = output;
  let { fullTextPath } = output;
  const isLong = (whole: string, limit: number): boolean => headAndTail(whole, limit, () => "") !== whole;
  const long = isLong(text, outputLimit) ? text : forModel;
  if (long === undefined || (long !== text && !isLong(long, modelOutputLimit))) return output;
  // If the tools run at the client, its model cannot read files here.
  if (fullTextPath === undefined && context.tools.get(call.name)?.runBy !== "client") {
    try {
      fullTextPath = await context.host.outputPath(context.sessionId, call.name);
      await context.host.files.write(fullTextPath, long);
    } catch {
      fullTextPath = undefined;
    }
  }
  const where = fullTextPath === undefined ? "" : ` The whole output is in ${fullTextPath}`;
  const cut = (whole: string, limit: number) =>
    headAndTail(whole, limit, (skipped) => `[... ${skipped} characters skipped ...]${where}`);
  return {
    ...output,
    text: cut(text, outputLimit),
    ...(forModel === undefined ? {} : { forModel: cut(forModel, modelOutputLimit) }),
    ...(fullTextPath === undefined ? {} : { fullTextPath }),
  };
}
