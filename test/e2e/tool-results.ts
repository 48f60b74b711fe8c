import type { Bench } from "./tinman.ts";
import { lines } from "./tinman.ts";

export type ToolCall = readonly [name: string, input: object];

/**
 * The results of these replies' calls, in one run of the built program without a user and with `--on-denied continue`.
 */
export async function toolResults(
  bench: Bench,
  cwd: string,
  flags: readonly string[],
  ...replies: readonly (readonly ToolCall[])[]
): Promise<readonly string[]> {
  const calling = replies.map((calls) => ({ tool_calls: calls.map(([name, input]) => ({ name, input })) }));
  const model = await bench.script([...calling, { text: "done" }]);
  const run = await bench.tinman(
    ["exec", "-o", "stream-json", "--on-denied", "continue", ...flags, "-m", model, "go"],
    { cwd },
  );
  return lines(run.stdout).flatMap(({ type, value }) => (type === "tool_result" ? [String(value)] : []));
}
