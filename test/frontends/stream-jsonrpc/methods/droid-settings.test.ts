import { describe, expect, test } from "vitest";
import { AgentError } from "../../../../src/engine/errors.ts";
import type { SessionSettings } from "../../../../src/engine/settings.ts";
import { type Dialect, dialectOf, vocabularyOf } from "../../../../src/frontends/stream-jsonrpc/dialect.ts";
import { engineSettings, wireSettings } from "../../../../src/frontends/stream-jsonrpc/methods/droid-settings.ts";
import { isAllowedUnder } from "../../../../src/frontends/stream-jsonrpc/methods/tool-filters.ts";
import { settings as settingsSchema } from "../../../../src/protocol/droid/settings.ts";

const plain: SessionSettings = { modelId: "m", reasoningEffort: "low", autonomy: "low", mode: "auto" };
const full: SessionSettings = {
  ...plain,
  mode: "spec",
  specModelId: "planner",
  specReasoningEffort: "high",
  appendSystemPrompt: "Be brief.",
  tags: [{ name: "a" }, { name: "b", metadata: { text: "t", count: 3, none: null } }],
};

test.each<[boolean, object | undefined, Dialect]>([
  [false, {}, "early"],
  [false, undefined, "early"],
  [false, { autonomyLevel: "auto-low" }, "early"],
  [false, { autonomyLevel: "spec" }, "early"],
  [false, { autonomyLevel: "low" }, "later"],
  [false, { autonomyLevel: "off" }, "later"],
  [false, { interactionMode: "auto" }, "later"],
  [false, { autonomyMode: "normal" }, "later"],
  [true, { autonomyLevel: "auto-low" }, "later"],
  [true, {}, "later"],
])("protocol version %s with %j is the dialect %s", (hasProtocolVersion, params, dialect) => {
  expect(dialectOf(hasProtocolVersion ? { protocolVersion: "1.15.0" } : {}, params)).toBe(dialect);
});

test.each<[Dialect, string | undefined, boolean, boolean]>([
  ["early", undefined, false, false],
  ["later", undefined, true, true],
  ["later", "1.1.0", true, true],
  ["later", "1.15.0", true, true],
  ["later", "1.51.0", false, false],
  ["later", "1.62.0", false, true],
  ["later", "1.63.0", true, true],
  ["later", "odd", true, true],
])(
  "a client of the %s dialect and version %s knows sandbox_violation: %s, choices for servers: %s",
  (dialect, version, violations, serverChoices) => {
    expect(vocabularyOf(dialect, version)).toEqual({ violations, serverChoices });
  },
);

describe("sent settings", () => {
  test("are four in the one dialect, whatever is set", () => {
    const common = { modelId: "m", reasoningEffort: "low" };
    expect(wireSettings(plain, "early", { disabledToolIds: ["x"] })).toEqual({
      ...common,
      autonomyLevel: "auto-low",
      specModeReasoningEffort: "none",
    });
    expect(wireSettings(full, "early")).toEqual({ ...common, autonomyLevel: "spec", specModeReasoningEffort: "high" });
    expect(wireSettings({ ...plain, autonomy: "off" }, "early")).toMatchObject({ autonomyLevel: "normal" });
  });

  test("separate mode and level in the other, with what is set", () => {
    const common = { modelId: "m", reasoningEffort: "low", autonomyLevel: "low" };
    expect(wireSettings(plain, "later")).toEqual({ ...common, interactionMode: "auto", autonomyMode: "auto-low" });
    const filters = {
      enabledToolIds: ["a"],
      disabledToolIds: [],
      additionalToolIds: ["b"],
      restrictToolIds: ["c"],
    };
    const sent = wireSettings(full, "later", filters);
    expect(sent).toEqual({
      ...common,
      interactionMode: "spec",
      autonomyMode: "spec",
      specModeModelId: "planner",
      specModeReasoningEffort: "high",
      systemPrompt: { type: "preset", preset: "droid", append: "Be brief." },
      tags: [{ name: "a" }, { name: "b", metadata: { text: "t", count: "3", none: "null" } }],
      ...filters,
    });
    expect(settingsSchema.parse(sent)).toEqual(sent);
    expect(wireSettings({ ...full, systemPrompt: "You are." }, "later")).toMatchObject({ systemPrompt: "You are." });
  });

  test("say that commands are contained, in the later dialect", () => {
    const sent = wireSettings(plain, "later", {}, true);
    expect(settingsSchema.parse(sent)).toEqual({
      ...wireSettings(plain, "later"),
      sandbox: { enabled: true, mode: "per-command" },
    });
    expect(wireSettings(plain, "later", {}, false)).toMatchObject({ sandbox: { enabled: false, mode: "per-command" } });
    expect(wireSettings(plain, "early", {}, true)).toEqual(wireSettings(plain, "early"));
  });

  test("omit values nested too deeply to be written", () => {
    const levels = 1_000_000;
    const endless: unknown = JSON.parse("[".repeat(levels) + "]".repeat(levels));
    const tags = [{ name: "a", metadata: { before: 1, endless, after: "x" } }];
    expect(wireSettings({ ...plain, tags }, "later")).toMatchObject({
      tags: [{ name: "a", metadata: { before: "1", after: "x" } }],
    });
    expect(wireSettings({ ...plain, tags }, "later")).not.toHaveProperty("tags.0.metadata.endless");
  });
});

describe("requested settings", () => {
  test.each([
    [{}, {}],
    [{ autonomyLevel: "auto-medium" }, { autonomy: "medium", mode: "auto" }],
    [{ autonomyLevel: "normal" }, { autonomy: "off", mode: "auto" }],
    [{ autonomyLevel: "spec" }, { autonomy: "off", mode: "spec" }],
    [{ autonomyLevel: "high" }, { autonomy: "high" }],
    [{ interactionMode: "spec" }, { mode: "spec" }],
    [
      { interactionMode: "spec", autonomyLevel: "auto-low" },
      { mode: "spec", autonomy: "low" },
    ],
    [{ autonomyMode: "spec" }, { autonomy: "off", mode: "spec" }],
    [{ autonomyMode: "auto-high" }, { autonomy: "high", mode: "auto" }],
    [
      { autonomyMode: "auto-high", autonomyLevel: "low", interactionMode: "spec" },
      { autonomy: "low", mode: "spec" },
    ],
    [
      { modelId: "x", reasoningEffort: "max" },
      { modelId: "x", reasoningEffort: "max" },
    ],
    [
      { specModeModelId: null, specModeReasoningEffort: null },
      { specModelId: null, specReasoningEffort: null },
    ],
    [
      { specModeModelId: "p", specModeReasoningEffort: "low" },
      { specModelId: "p", specReasoningEffort: "low" },
    ],
    [{ systemPrompt: "You are." }, { systemPrompt: "You are.", appendSystemPrompt: null }],
    [
      { systemPrompt: { type: "preset", preset: "droid", append: "Also." } },
      { systemPrompt: null, appendSystemPrompt: "Also." },
    ],
    [{ tags: [{ name: "t", metadata: { a: "b" } }] }, { tags: [{ name: "t", metadata: { a: "b" } }] }],
  ] as const)("%j means %j", (params, changes) => {
    expect(engineSettings(params, "later")).toEqual(changes);
  });

  test.each(["agi", "mission"] as const)("interactionMode %s is rejected with a message", (interactionMode) => {
    expect(() => engineSettings({ interactionMode }, "later")).toThrow(
      new AgentError("usage", `interactionMode "${interactionMode}" is not supported; use "auto" or "spec"`),
    );
  });
});

describe("tools that stay offered", () => {
  const names = ["Read", "LS", "Execute", "ApplyPatch", "FetchUrl"];

  test.each([
    [{}, [], names],
    [{}, ["Execute"], ["Read", "LS", "ApplyPatch", "FetchUrl"]],
    [{ disabledToolIds: ["execute-cli", "APPLYPATCH", "fetch-url", "nothing"] }, [], ["Read", "LS"]],
    [{ restrictToolIds: ["read", "apply-patch-cli"] }, [], ["Read", "ApplyPatch"]],
    [{ restrictToolIds: [] }, [], []],
    [{ restrictToolIds: ["read"], additionalToolIds: ["ls-cli"] }, [], ["Read", "LS"]],
    [{ restrictToolIds: ["read"], enabledToolIds: ["LS"], disabledToolIds: ["ls"] }, [], ["Read"]],
    [{ enabledToolIds: ["Execute"] }, ["Execute", "LS"], ["Read", "ApplyPatch", "FetchUrl"]],
    [{ enabledToolIds: [], disabledToolIds: ["LS"] }, [], ["Read", "Execute", "ApplyPatch", "FetchUrl"]],
    [{ disabledToolIds: ["apply patch", "exe-cute"] }, [], names],
  ])("%j beside %j on the command line", (filters, disabled, left) => {
    expect(names.filter(isAllowedUnder(filters, { disabledTools: disabled }))).toEqual(left);
  });
});
