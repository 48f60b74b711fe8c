import { createServer } from "node:http";

/**
 * A server for the four provider formats, for benchmarks: it reads only the address and the model's name, and answers
 * at once. The model `words-<n>` answers in n pieces, `steady-<n>` with one packet per piece. Prints its port;
 * exits when its stdin closes.
 */

const usage = { prompt_tokens: 12, completion_tokens: 20, total_tokens: 32 };
const words = ["The", " quick", " brown", " fox", " jumps", " over", " the", " lazy", " dog", ".\n"];

/** @param {unknown} value */
const data = (value) => `data: ${JSON.stringify(value)}\n\n`;
/** @param {{ readonly type: string, readonly [key: string]: unknown }} value */
const named = (value) => `event: ${value.type}\n${data(value)}`;

/** @typedef {{ readonly before: readonly string[], piece(text: string, index: number): string, readonly after: readonly string[] }} Wire */

/**
 * The events of a reply on each wire, in the providers' formats.
 * @type {Readonly<Record<"chat" | "responses" | "messages" | "google", Wire>>}
 */
const wires = {
  chat: {
    before: [data(chatChunk({ role: "assistant", content: "" }, null))],
    piece: (text) => data(chatChunk({ content: text }, null)),
    after: [data(chatChunk({}, "stop")), data({ ...chatChunk({}, null), choices: [], usage }), "data: [DONE]\n\n"],
  },
  responses: {
    before: [
      named({ type: "response.created", sequence_number: 0, response: response("in_progress", []) }),
      named({ type: "response.in_progress", sequence_number: 1, response: response("in_progress", []) }),
      named({ type: "response.output_item.added", sequence_number: 2, output_index: 0, item: item("in_progress", []) }),
      named({ type: "response.content_part.added", sequence_number: 3, ...place(), part: part("") }),
    ],
    piece: (text, index) =>
      named({ type: "response.output_text.delta", sequence_number: 4 + index, ...place(), delta: text, logprobs: [] }),
    after: [
      named({ type: "response.output_text.done", sequence_number: 0, ...place(), text: "", logprobs: [] }),
      named({ type: "response.content_part.done", sequence_number: 0, ...place(), part: part("") }),
      named({
        type: "response.output_item.done",
        sequence_number: 0,
        output_index: 0,
        item: item("completed", [part("")]),
      }),
      named({
        type: "response.completed",
        sequence_number: 0,
        response: response("completed", [item("completed", [part("")])]),
      }),
    ],
  },
  messages: {
    before: [
      named({
        type: "message_start",
        message: {
          id: "msg_bench",
          type: "message",
          role: "assistant",
          model: "bench",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
        },
      }),
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      named({ type: "ping" }),
    ],
    piece: (text) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    after: [
      named({ type: "content_block_stop", index: 0 }),
      named({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 20 },
      }),
      named({ type: "message_stop" }),
    ],
  },
  google: {
    before: [],
    piece: (text) => data(googleChunk(text, {})),
    after: [data(googleChunk("", { finishReason: "STOP" }))],
  },
};

/**
 * @param {Readonly<Record<string, string>>} delta
 * @param {string | null} finishReason
 */
function chatChunk(delta, finishReason) {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  return {
    id: "chatcmpl-bench",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "bench",
    choices: [choice],
  };
}

/**
 * @param {string} status
 * @param {readonly unknown[]} output
 */
function response(status, output) {
  const spent = {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 32,
  };
  const head = { id: "resp_bench", object: "response", created_at: 1_790_000_000, status, model: "bench", output };
  return { ...head, error: null, incomplete_details: null, usage: status === "completed" ? spent : null };
}

/**
 * @param {string} status
 * @param {readonly unknown[]} content
 */
function item(status, content) {
  return { id: "msg_bench", type: "message", role: "assistant", status, content };
}

/** @param {string} text */
function part(text) {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function place() {
  return { item_id: "msg_bench", output_index: 0, content_index: 0 };
}

/**
 * @param {string} text
 * @param {Readonly<Record<string, string>>} end
 */
function googleChunk(text, end) {
  return {
    candidates: [{ content: { parts: [{ text }], role: "model" }, ...end, index: 0 }],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 20, totalTokenCount: 32 },
    modelVersion: "bench",
    responseId: "bench",
  };
}

/** @param {string} path */
function wireAt(path) {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "messages";
  return path.includes(":streamGenerateContent") ? "google" : undefined;
}

/** @type {Map<string, readonly string[]>} */
const answers = new Map();

/**
 * @param {keyof typeof wires} name
 * @param {number} count
 */
function answerOf(name, count) {
  const key = `${name} ${count}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const { before, piece, after } = wires[name];
  const pieces = Array.from({ length: count }, (_, index) => piece(words[index % words.length] ?? "", index));
  const answer = [...before, ...pieces, ...after];
  answers.set(key, answer);
  return answer;
}

const server = createServer((request, answer) => {
  const path = request.url ?? "";
  const wire = wireAt(path);
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (text) => {
    body += text;
  });
  request.on("end", () => {
    const asked = /\b(words|steady)-(\d+)\b/.exec(path) ?? /"model"\s*:\s*"(words|steady)-(\d+)"/.exec(body);
    if (wire === undefined || asked === null) {
      answer.writeHead(404).end();
      return;
    }
    answer.socket?.setNoDelay(true);
    answer.writeHead(200, { "content-type": "text/event-stream" });
    const events = answerOf(wire, Number(asked[2]));
    if (asked[1] === "steady") sendApart(answer, events, 0);
    else {
      for (const event of events) answer.write(event);
      answer.end();
    }
  });
});

/**
 * One event per tick of the loop, because Node joins writes of the same tick.
 * @param {import("node:http").ServerResponse} answer
 * @param {readonly string[]} events
 * @param {number} index
 */
function sendApart(answer, events, index) {
  const event = events[index];
  if (event === undefined) answer.end();
  else if (answer.write(event)) setImmediate(sendApart, answer, events, index + 1);
  else answer.once("drain", () => sendApart(answer, events, index + 1));
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
process.stdin.on("end", () => process.exit()).resume();
