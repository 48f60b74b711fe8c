import { createAnthropicServer } from "./anthropic-server.ts";
import { post } from "./post.ts";

/** A server and the client's requests to it. The caller closes the server. */
export async function createAnthropicFixture() {
  const server = await createAnthropicServer();

  const png = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`;
  const pdf = Buffer.from("%PDF-1.7\n%%EOF").toString("base64");
  const image = (data: string, media_type = "image/png") => ({
    type: "image",
    source: { type: "base64", media_type, data },
  });
  const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });
  const result = (tool_use_id: string, more: object = {}) => ({
    type: "tool_result",
    tool_use_id,
    content: "done",
    ...more,
  });
  const mark = (ttl?: string) => ({ cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } });

  const tools = [
    { name: "Read", description: "Reads.", input_schema: { type: "object", properties: { path: { type: "string" } } } },
    { name: "Now", input_schema: { type: "object", additionalProperties: false }, ...mark() },
  ];
  const question = { role: "user", content: [text("Look at this."), image(png)] };
  const plain = { model: "claude-sonnet-4-6", max_tokens: 8000, messages: [{ role: "user", content: "Hello" }] };

  async function send(body: unknown, version = "2023-06-01") {
    const headers = { "x-api-key": server.key, "anthropic-version": version, "content-type": "application/json" };
    const { status, text: words } = await post(`${server.url}/v1/messages`, headers, body);
    return { status, body: JSON.parse(words), faults: server.requests.at(-1)?.faults };
  }

  server.enqueue({
    thinking: ["Let me see."],
    text: ["I look."],
    calls: ["call_1", "call_2"].map((id) => ({ name: "Read", input: { path: "/a" }, id })),
  });
  const first = await send({
    ...plain,
    tools,
    thinking: { type: "enabled", budget_tokens: 2000 },
    messages: [question],
  });

  /** The service's first reply: signed thinking, text and two calls. */
  const said: readonly Record<string, unknown>[] = first.body.content;

  /** A valid second request, as sent by a client with all features. */
  const full = () => ({
    model: "claude-sonnet-4-6",
    max_tokens: 8000,
    system: [text("Be brief.", mark("1h"))],
    thinking: { type: "enabled", budget_tokens: 2000 } as object | undefined,
    tools: tools.map((tool) => ({ ...tool, ...("cache_control" in tool ? mark("1h") : {}) })) as object[] | undefined,
    tool_choice: { type: "auto", disable_parallel_tool_use: false } as object | undefined,
    metadata: { user_id: "u" },
    messages: [
      question,
      { role: "assistant", content: said },
      {
        role: "user",
        content: [
          result("call_1"),
          result("call_2", { content: [text("two"), image(png)], ...mark() }),
          text("Go on."),
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf } },
        ],
      },
    ] as { role: string; content: unknown }[],
  });
  type Body = ReturnType<typeof full>;
  const messages = (body: Body, ...more: Body["messages"]) => ({ ...body, messages: [...body.messages, ...more] });
  const ended = (body: Body, content: unknown) => ({
    ...body,
    messages: [...body.messages.slice(0, 2), { role: "user", content }],
  });
  const replied = (body: Body, content: unknown) => ({
    ...body,
    messages: [question, { role: "assistant", content }, ...body.messages.slice(2)],
  });
  const asked = (content: unknown) => ({ ...plain, messages: [{ role: "user", content }] });

  return {
    server,
    png,
    image,
    text,
    result,
    mark,
    tools,
    question,
    plain,
    send,
    said,
    full,
    messages,
    ended,
    replied,
    asked,
  };
}

export type Full = ReturnType<Awaited<ReturnType<typeof createAnthropicFixture>>["full"]>;
