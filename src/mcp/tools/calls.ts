import type { Progress } from "@modelcontextprotocol/client";
import { createPace } from "../../async/pace.ts";
import type { Clock } from "../../engine/ports.ts";
import { failed, type ToolContext, type ToolOutput } from "../../engine/tool.ts";
import { type Fields, fieldsOf } from "../../text/values.ts";
import type { Link } from "../connection/link.ts";
import { lostAnswer, problemOf, ServerProblem, shownLine } from "../server-problem.ts";
import { type CheckImage, resultOf } from "./results.ts";

export interface CallParts {
  readonly clock: Clock;
  /** A call without progress for this long has failed. */
  readonly silenceMs: number;
  readonly checkImage: CheckImage;
}

/** Calls a tool. An abort or a silence is also told to the server. Never rejects for faults of the server. */
export async function callTool(
  link: Link,
  server: string,
  [tool, input]: readonly [string, Fields],
  context: Pick<ToolContext, "signal" | "progress">,
  { clock, silenceMs, checkImage }: CallParts,
): Promise<ToolOutput> {
  const silent = new AbortController();
  let stopWaiting = clock.after(silenceMs, () => silent.abort());
  const onProgress = (progress: Progress): void => {
    stopWaiting();
    if (silent.signal.aborted) return;
    stopWaiting = clock.after(silenceMs, () => silent.abort());
    context.progress(progressText(progress));
  };
  try {
    const signal = AbortSignal.any([context.signal, silent.signal]);
    const result = await link.request("tools/call", { name: tool, arguments: input }, { signal, onProgress });
    const pace = createPace();
    return await resultOf(result, checkImage, () => pace.rest());
  } catch (error) {
    if (context.signal.aborted) return { text: "Error: Tool execution cancelled by user", status: "interrupted" };
    if (silent.signal.aborted) {
      return failed(
        `The server ${server} did not answer for ${Math.round(silenceMs / 1000)} s. The call was cancelled.`,
      );
    }
    return failed(faultOf(server, error));
  } finally {
    stopWaiting();
  }
}

/** Why a request to a server failed. */
export function faultOf(server: string, error: unknown): string {
  const { message } = problemOf(error);
  const isOurs = error instanceof ServerProblem || fieldsOf(error).data === lostAnswer;
  return `The server ${server} ${isOurs ? "did not answer. " : "reported: "}${message}`;
}

function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? share : `${share}: ${shownLine(message, 500)}`;
}
