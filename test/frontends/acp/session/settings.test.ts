import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { only, refusal, textOf } from "../fakes/acp-client.ts";
import { alikeSources, otherwise, useEditor } from "../fakes/acp-suite.ts";

const commands = ["status", "model", "mode", "effort", "rename", "compact", "tools"];

describe.each(alikeSources)("%s: settings and commands", (source) => {
  const at = useEditor(source, async (bench) => {
    script = await bench.script(otherwise, { model: { contextWindow: 64_000 } });
    return { args: ["-m", script], env: { OPENAI_API_KEY: "sk-nobody" } };
  });
  let script = "";
  const request = (method: string, params: object): Promise<Record<string, unknown>> =>
    at().editor.agent.request(method, { sessionId: at().session.id, ...params });
  /** A change's updates and response. */
  async function changed(method: string, params: object) {
    const { answer, updates: told } = await at().session.request(method, params);
    const options = only(told, "config_option_update").at(-1)?.configOptions;
    return {
      answer,
      modes: only(told, "current_mode_update").map(({ currentModeId }) => currentModeId),
      values: options && Object.fromEntries(options.map(({ id, currentValue }) => [id, currentValue])),
    };
  }

  test.each(["low", "medium", "high", "spec", "off"])("sets the mode %s", async (modeId) => {
    const { answer, modes, values } = await changed("session/set_mode", { modeId });
    expect([answer, modes, values?.mode]).toEqual([{}, [modeId], modeId]);
  });

  test.each([
    ["auto-low", "low"],
    ["auto-medium", "medium"],
    ["auto-high", "high"],
    ["normal", "off"],
  ])("accepts %s as another name of the mode %s", async (alias, modeId) => {
    expect((await changed("session/set_mode", { modeId: alias })).modes).toEqual([modeId]);
  });

  test("does not report a mode that is already set", async () => {
    await request("session/set_mode", { modeId: "off" });
    const { modes, values } = await changed("session/set_mode", { modeId: "off" });
    expect([modes, values]).toEqual([[], undefined]);
  });

  test.each(["yolo", "", "toString", "__proto__"])("rejects the mode %j without a change", async (modeId) => {
    const { session } = at();
    const from = session.updates.length;
    expect(await refusal(request("session/set_mode", { modeId }))).toEqual({
      code: -32602,
      message: `Unknown mode ${JSON.stringify(modeId)}. Available: off, low, medium, high, spec.`,
    });
    expect(session.updates.slice(from)).toEqual([]);
  });

  test("offers the mode as an option", async () => {
    const { answer, modes } = await changed("session/set_config_option", { configId: "mode", value: "medium" });
    const options = answer.configOptions as { id: string; currentValue: string }[];
    expect(modes).toEqual(["medium"]);
    expect(options.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ["mode", "medium"],
      ["model", script],
    ]);
  });

  test("offers the model as an option, which changes other options", async () => {
    const { answer, values } = await changed("session/set_config_option", { configId: "model", value: "gpt-5.1" });
    const options = answer.configOptions as { id: string; currentValue: string }[];
    expect(Object.fromEntries(options.map(({ id, currentValue }) => [id, currentValue]))).toEqual(values);
    expect(values).toMatchObject({ model: "gpt-5.1", thought_level: expect.any(String) });
  });

  test("offers the reasoning effort as an option", async () => {
    await request("session/set_config_option", { configId: "model", value: "gpt-5.1" });
    const { values } = await changed("session/set_config_option", { configId: "thought_level", value: "high" });
    expect(values?.thought_level).toBe("high");
  });

  test.each([
    ["mode", "yolo"],
    ["model", "no-such-model"],
    ["thought_level", "gigantic"],
  ])("rejects an invalid value for the option %s", async (configId, value) => {
    expect(await refusal(request("session/set_config_option", { configId, value }))).toEqual({
      code: -32602,
      message: expect.stringMatching(new RegExp(`^Unknown \\w+ "${value}".*Available: .+`)),
    });
  });

  test("rejects an unknown option", async () => {
    expect(await refusal(request("session/set_config_option", { configId: "color", value: "red" }))).toEqual({
      code: -32602,
      message: 'Unknown option "color". Available: mode, model, thought_level.',
    });
  });

  test("rejects a non-string value", async () => {
    const { editor, session } = at();
    const params = { sessionId: session.id, configId: "mode", type: "boolean", value: true };
    expect((await editor.raw("session/set_config_option", params)).error?.code).toBe(-32602);
  });

  test("older clients set the model with a separate method", async () => {
    const { answer, values } = await changed("session/set_model", { modelId: "offline" });
    expect([answer, values?.model]).toEqual([{}, "offline"]);
  });

  test("rejects an unknown model", async () => {
    expect(await refusal(request("session/set_model", { modelId: "no-such-model" }))).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^Unknown model "no-such-model"\. Available: .*offline/),
    });
  });

  test("allows returning to the model that the program was started with", async () => {
    await request("session/set_model", { modelId: "offline" });
    expect((await changed("session/set_model", { modelId: script })).values?.model).toBe(script);
  });

  test("a change applies to the next prompt", async () => {
    await request("session/set_config_option", { configId: "model", value: script });
    expect(textOf((await at().session.prompt("hello")).updates)).toBe("You said: hello");
  });

  test("another model has another window, which is reported", async () => {
    const { editor } = at();
    const session = await editor.open();
    const sized = (size: number) => (update: SessionUpdate) =>
      update.sessionUpdate === "usage_update" && update.size === size;
    await session.prompt("hello");
    await session.update(sized(64_000));
    await session.request("session/set_model", { modelId: "gpt-5.1" });
    await session.update(sized(400_000));
  });

  test("a change applies to one session only", async () => {
    const { editor } = at();
    await request("session/set_mode", { modeId: "high" });
    expect((await editor.open()).state.modes?.currentModeId).toBe("off");
  });

  const say = async (text: string): Promise<string> => {
    const { response, updates } = await at().session.prompt(text);
    expect(response).toEqual({ stopReason: "end_turn" });
    return textOf(updates);
  };

  test("are advertised with their arguments", () => {
    const told = only(at().session.updates, "available_commands_update").at(-1)?.availableCommands ?? [];
    expect(told.map(({ name }) => name)).toEqual(commands);
    expect(told.every(({ description }) => description.length > 10)).toBe(true);
    const withInput = told.filter(({ input }) => input).map(({ name }) => name);
    expect(withInput).toEqual(["model", "mode", "effort", "rename", "compact"]);
  });

  test("/status shows the session, its folder, its model and its mode", async () => {
    const { bench, session } = at();
    await session.request("session/set_model", { modelId: script });
    await session.request("session/set_mode", { modeId: "off" });
    const status = await say("/status");
    for (const part of [session.id, bench.cwd, script, "Mode: off"]) expect(status).toContain(part);
  });

  test("/mode shows and sets the mode, and rejects an unknown one", async () => {
    expect(await say("/mode")).toBe("The mode is off. Available: off, low, medium, high, spec.");
    const from = at().session.updates.length;
    expect(await say("/mode low")).toBe("The mode is now low.");
    expect(only(at().session.updates.slice(from), "current_mode_update")).toEqual([
      { sessionUpdate: "current_mode_update", currentModeId: "low" },
    ]);
    expect(await say("/mode yolo")).toBe('Unknown mode "yolo". Available: off, low, medium, high, spec.');
    expect(await say("/mode normal")).toBe("The mode is now off.");
  });

  test("/model lists the models, sets one, and rejects an unknown one", async () => {
    expect(await say("/model")).toMatch(/- gpt-5\.1\n.*- offline/s);
    expect(await say("/model gpt-5.1")).toBe("The model is now gpt-5.1.");
    expect(await say("/model")).toContain("- gpt-5.1 (in use)");
    expect(await say("/model no-such-model")).toBe('Unknown model "no-such-model".');
  });

  test("/effort shows and sets the effort, and rejects an unknown one", async () => {
    await say("/model gpt-5.1");
    expect(await say("/effort high")).toBe("The effort is now high.");
    expect(await say("/effort")).toMatch(/^The effort is high\. Available: .*low.*high/);
    expect(await say("/effort gigantic")).toMatch(/^Unknown effort "gigantic"\./);
  });

  test("/model returns to the model that the program was started with", async () => {
    await say("/model offline");
    expect(await say(`/model ${script}`)).toBe(`The model is now ${script}.`);
  });

  test("/rename sets a title, which is reported", async () => {
    const { session } = at();
    const from = session.updates.length;
    expect(await say("/rename The great   work")).toBe("The session is now called The great   work.");
    const told = await session.update(({ sessionUpdate }) => sessionUpdate === "session_info_update", from);
    expect(told).toMatchObject({ title: expect.stringMatching(/^The great +work$/) });
    expect(await say("/rename")).toBe("Give a title: /rename <title>");
  });

  test("/tools lists the tools offered to the model", async () => {
    const tools = await say("/tools");
    for (const name of ["Read", "Edit", "Create", "Execute", "Grep"])
      expect(tools).toMatch(new RegExp(`^- ${name}: .`, "m"));
  });

  test("other text with a slash goes to the model", async () => {
    await say(`/model ${script}`);
    expect(await say("/etc/hosts is a file")).toBe("You said: /etc/hosts is a file");
    expect(await say("/statusses")).toBe("You said: /statusses");
  });

  test("they are not part of the conversation, and cost nothing", async () => {
    const { bench, editor } = at();
    const session = await editor.open();
    await session.prompt("/status");
    await session.prompt("/tools");
    await editor.agent.request("session/close", { sessionId: session.id });
    const from = session.updates.length;
    await editor.agent.request("session/load", { sessionId: session.id, cwd: bench.cwd, mcpServers: [] });
    expect(only(session.updates.slice(from), "agent_message_chunk")).toEqual([]);
    expect(only(session.updates.slice(0, from), "usage_update")).toEqual([]);
  });

  test("a command right after opening the session works", async () => {
    const { bench, editor } = at();
    const { sessionId } = await editor.agent.request("session/new", { cwd: bench.cwd, mcpServers: [] });
    const { updates } = await editor.conversation(sessionId).prompt("/mode");
    expect(textOf(updates)).toMatch(/^The mode is off\./);
  });
});
