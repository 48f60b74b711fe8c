import { afterEach, describe, test } from "vitest";
import {
  base,
  calls,
  close,
  expectAccepted,
  expectRefused,
  type Json,
  messages,
  open,
  png,
  result,
  said,
  tool,
  user,
} from "./openai-chat-fixture.ts";
import type { OpenAIChatOptions } from "./openai-chat-server.ts";
import { chatDialects } from "./openai-chat-server.ts";

afterEach(close);

describe("rules of some servers only", () => {
  const openAI = (message: string, param: string | null = null, type = "invalid_request_error") => {
    return { error: { message, type, param, code: null } };
  };
  const template = (message: string) => ({ error: { message, type: "BadRequestError", param: null, code: 400 } });
  const alternate =
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...";
  const id = "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.";
  const local = { ...base, model: "local-model" };
  test.each<[string, OpenAIChatOptions, Json, Json]>([
    [
      "tools",
      { noTools: true },
      { ...local, tools: [tool({ type: "object" })] },
      openAI("registry.ollama.ai/library/local-model does not support tools", null, "api_error"),
    ],
    [
      "images",
      { images: false },
      messages({ role: "user", content: [{ type: "text", text: "x" }, png] }),
      openAI("Invalid content type. image_url is only supported by certain models.", "messages.[0].content.[1].type"),
    ],
    ["two user messages in a row", { strictTemplate: true }, messages(user, user), template(alternate)],
    [
      "a user message after a result",
      { strictTemplate: true },
      messages(user, calls("c"), result("c"), user),
      template(alternate),
    ],
    ["an assistant message first", { strictTemplate: true }, messages(said, user), template(alternate)],
    [
      "a late system message",
      { strictTemplate: true },
      messages(user, said, { role: "system", content: "x" }, user),
      template("Only user and assistant roles are supported, with the exception of an initial system message."),
    ],
    [
      "an assistant message last",
      { strictTemplate: true },
      messages(user, said),
      template("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"),
    ],
    [
      "long ids",
      { mistralIds: true },
      messages(user, calls("call_1"), result("call_1")),
      { object: "error", message: id, type: "invalid_function_call", param: null, code: "3280" },
    ],
    [
      "calls without their reasoning",
      chatDialects.moonshot,
      { ...messages(user, calls("c"), result("c")), model: "kimi-k2.5" },
      openAI("thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"),
    ],
    [
      "an empty message",
      { refuseEmpty: true },
      messages(user, { role: "assistant", content: "" }, user),
      openAI("Invalid request: the message at position 1 with role 'assistant' must not be empty"),
    ],
  ])("%s", async (_name, options, body, error) => {
    await open(options);
    await expectRefused(body, error);
    const { strictTemplate: _, mistralIds: __, noTools: ___, images: ____, ...rest } = options;
    const { reasoningRequired: _____, refuseEmpty: ______, ...lenient } = rest;
    await close();
    await open(lenient);
    await expectAccepted(body);
  });
});
