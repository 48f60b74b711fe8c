const { request } = require("node:http");

/**
 * A minimal model client in one file, without our code.
 * `node bare-client.cjs <port> <wire> <model>` prints the reply as it arrives.
 *
 * @typedef {{ path(model: string): string, body: object, textOf(event: any): string | undefined }} Wire
 */

/** @type {Readonly<Record<string, Wire>>} */
const wires = {
  chat: {
    path: () => "/v1/chat/completions",
    body: { messages: [{ role: "user", content: "hi" }], stream_options: { include_usage: true } },
    textOf: (event) => event.choices[0]?.delta.content,
  },
  responses: {
    path: () => "/v1/responses",
    body: { input: [{ role: "user", content: "hi" }] },
    textOf: (event) => (event.type === "response.output_text.delta" ? event.delta : undefined),
  },
  messages: {
    path: () => "/v1/messages",
    body: { messages: [{ role: "user", content: "hi" }], max_tokens: 1_000 },
    textOf: (event) => event.delta?.text,
  },
  google: {
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    textOf: (event) => event.candidates[0]?.content.parts[0]?.text,
  },
};

/**
 * One request, with the text of each event as it arrives.
 * @param {{ port: string, wire: string, model: string, onText(text: string): void }} given
 * @returns {Promise<void>}
 */
function ask({ port, wire, model, onText }) {
  const known = wires[wire];
  if (known === undefined) throw new Error(`Unknown wire "${wire}".`);
  const { path, body, textOf } = known;
  const headers = { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path: path(model), method: "POST", headers }, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        const lines = (rest + piece).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
          const text = textOf(JSON.parse(line.slice(6)));
          if (text) onText(text);
        }
      });
      response.on("end", resolve);
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(JSON.stringify({ model, stream: true, ...body }));
  });
}

module.exports = { ask };

if (require.main === module) {
  const [port = "", wire = "", model = ""] = process.argv.slice(2);
  void ask({ port, wire, model, onText: (text) => process.stdout.write(text) });
}
