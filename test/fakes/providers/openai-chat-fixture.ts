import { expect } from "vitest";
import type { ProviderServer } from "./base.ts";
import type { OpenAIChatOptions } from "./openai-chat-server.ts";
import { createOpenAIChatServer } from "./openai-chat-server.ts";
import { send } from "./openai-client.ts";

export type Json = Record<string, unknown>;

/** The server under test, opened on first use. */
let server: ProviderServer;

export async function open(options: OpenAIChatOptions = {}): Promise<ProviderServer> {
  server = await createOpenAIChatServer(options);
  return server;
}

export const close = (): Promise<void> => server.close();

export const user = { role: "user", content: "hello" };
export const said = { role: "assistant", content: "hi" };
export const base = { model: "gpt-4.1", messages: [user], stream: true };
export const png = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };

export function calls(...ids: string[]): Json {
  const made = ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: "{}" } }));
  return { role: "assistant", content: null, tool_calls: made };
}

export function result(id: string): Json {
  return { role: "tool", tool_call_id: id, content: "done" };
}

export function messages(...list: Json[]): Json {
  return { ...base, messages: list };
}

export function tool(parameters: Json, more: Json = {}): Json {
  return { type: "function", function: { name: "read", parameters, ...more } };
}

export async function ask(body: unknown) {
  const { key } = server;
  const { status, text } = await send(`${server.url}/chat/completions`, { ...(key === "" ? {} : { key }), body });
  return { status, text };
}

export async function expectAccepted(body: Json): Promise<void> {
  server.enqueue({ text: ["ok"] });
  const { status } = await ask(body);
  expect([server.requests.at(-1)?.faults, status]).toEqual([[], 200]);
}

export async function expectRefused(body: Json, error: Json, status = 400): Promise<void> {
  const answer = await ask(body);
  expect({ status: answer.status, body: JSON.parse(answer.text) }).toEqual({ status, body: error });
  expect(server.requests.at(-1)?.faults.length).toBeGreaterThan(0);
}
