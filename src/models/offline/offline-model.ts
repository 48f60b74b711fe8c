import { estimateTokens, textTokens } from "../../engine/context/tokens.ts";
import { AgentError, failureOf } from "../../engine/errors.ts";
import type { ModelEvent, ModelPort, ModelRequest } from "../../engine/ports.ts";
import { nextCallId } from "../scripted/call-ids.ts";
import { offlineInfo } from "./info.ts";
import { nextReply } from "./reply.ts";

/** The embedded model: rules instead of a network. The same request always gets the same reply. */
export function createOfflineModel(): ModelPort {
  return { info: offlineInfo, stream };
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  try {
    if (request.purpose === "summary") throw new AgentError("model_failed", "The offline model writes no summaries.");
    const messages = request.past?.() ?? request.messages;
    const { text, call, understood } = nextReply({ ...request, messages });
    for (const chunk of chunksOf(text)) {
      if (signal.aborted) return;
      yield { type: "text", text: chunk };
    }
    let output = textTokens(text);
    if (call !== undefined) {
      const id = nextCallId(messages);
      const inputText = JSON.stringify(call.input);
      output += textTokens(inputText);
      for (const chunk of chunksOf(inputText)) {
        if (signal.aborted) return;
        yield { type: "tool_input", id, name: call.tool, text: chunk };
      }
      yield { type: "tool_call", id, name: call.tool, inputText };
    }
    const usage = { input: estimateTokens(request), output, cacheRead: 0, cacheWrite: 0, thinking: 0 };
    yield { type: "usage", usage };
    yield { type: "end", stop: call === undefined ? "end" : "tool_calls", ...(understood ? {} : { understood }) };
  } catch (error) {
    yield { type: "error", failure: failureOf(error), retryable: false };
  }
}

/** A few words at a time; their concatenation is the text. */
function chunksOf(text: string): readonly string[] {
  const size = Math.max(12, Math.ceil(text.length / 48));
  const chunks: string[] = [];
  let chunk = "";
  for (const word of text.match(/\s*[^\s\u3400-\u9fff]+|\s*[\u3400-\u9fff]|\s+/g) ?? []) {
    chunk += word;
    if (chunk.length < size) continue;
    chunks.push(chunk);
    chunk = "";
  }
  return chunk === "" ? chunks : [...chunks, chunk];
}
