import { afterEach, expect, test } from "vitest";
import type { ReasoningEffort } from "../../../src/engine/settings.ts";
import { reasoningEfforts } from "../../../src/engine/settings.ts";
import { ask } from "../../fakes/kit.ts";
import { anthropicModels } from "../../fakes/providers/anthropic-models.ts";
import { googleModels } from "../../fakes/providers/google-models.ts";
import { isFullRun } from "../../full-run.ts";
import { closeServers, eventsOf, openWire, type WireName } from "./wire.ts";

afterEach(closeServers);

/** The fields sent for each effort, in the order of `reasoningEfforts`. Absent: nothing. */
type Row = readonly [wire: WireName, model: string, sent: Readonly<Partial<Record<ReasoningEffort, unknown>>>];

const budget = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });
const adaptive = (effort: string) => ({
  thinking: { type: "adaptive", display: "summarized" },
  output_config: { effort },
});
const word = (effort: string) => ({ reasoning: { effort, summary: "auto" } });
const tokens = (thinkingBudget: number) => ({ thinkingConfig: { thinkingBudget, includeThoughts: true } });
const level = (thinkingLevel: string) => ({ thinkingConfig: { thinkingLevel, includeThoughts: true } });

const rows: readonly Row[] = [
  [
    "anthropic",
    "claude-sonnet-4-5",
    {
      none: budget(10_240),
      off: { thinking: { type: "disabled" } },
      minimal: budget(1_024),
      low: budget(4_096),
      medium: budget(10_240),
      high: budget(24_576),
      xhigh: budget(32_768),
      max: budget(59_904),
      dynamic: budget(10_240),
    },
  ],
  [
    "anthropic",
    "claude-opus-4-6",
    {
      none: adaptive("high"),
      off: { thinking: { type: "disabled" } },
      minimal: adaptive("low"),
      low: adaptive("low"),
      medium: adaptive("medium"),
      high: adaptive("high"),
      xhigh: adaptive("high"),
      max: adaptive("max"),
      dynamic: { thinking: { type: "adaptive", display: "summarized" } },
    },
  ],
  [
    "openai-responses",
    "gpt-5",
    {
      none: word("medium"),
      off: word("minimal"),
      minimal: word("minimal"),
      low: word("low"),
      medium: word("medium"),
      high: word("high"),
      xhigh: word("high"),
      max: word("high"),
      dynamic: { reasoning: { summary: "auto" } },
    },
  ],
  [
    "openai-responses",
    "gpt-5.1",
    {
      none: word("medium"),
      off: { reasoning: { effort: "none" } },
      minimal: word("low"),
      low: word("low"),
      medium: word("medium"),
      high: word("high"),
      xhigh: word("high"),
      max: word("high"),
      dynamic: { reasoning: { summary: "auto" } },
    },
  ],
  ["openai-responses", "gpt-4.1", {}],
  [
    "google",
    "gemini-2.5-pro",
    {
      none: { thinkingConfig: { includeThoughts: true } },
      off: tokens(1_024),
      minimal: tokens(1_024),
      low: tokens(4_096),
      medium: tokens(10_240),
      high: tokens(24_576),
      xhigh: tokens(24_576),
      max: tokens(24_576),
      dynamic: { thinkingConfig: { includeThoughts: true } },
    },
  ],
  [
    "google",
    "gemini-3-pro-preview",
    {
      none: { thinkingConfig: { includeThoughts: true } },
      off: level("low"),
      minimal: level("low"),
      low: level("low"),
      medium: level("low"),
      high: level("high"),
      xhigh: level("high"),
      max: level("high"),
      dynamic: { thinkingConfig: { includeThoughts: true } },
    },
  ],
];

test.each(rows)("%s, %s: sends only efforts that the model supports", async (wire, model, expected) => {
  const sent: Record<string, unknown> = {};
  for (const effort of reasoningEfforts) {
    const { server, open } = await openWire(wire, { entry: { model } });
    server.enqueue({ text: ["ok"] });
    const session = await open({ reasoningEffort: effort });
    const events = await eventsOf(session, () => ask(session, "hi"));
    expect(server.requests.map(({ faults }) => faults)).toEqual([[]]);
    const options = effortOptionsIn(server.requests[0]?.body);
    if (Object.keys(options).length > 0) sent[effort] = options;
    const notices = events.filter((event) => event.type === "notice").length;
    expect(notices, effort).toBe(isOffered(effort, expected) ? 0 : 1);
  }
  expect(sent).toEqual(expected);
});

const everyModel: readonly (readonly [WireName, string])[] = [
  ...Object.keys(anthropicModels).map((model) => ["anthropic", model] as const),
  ...Object.keys(googleModels).map((model) => ["google", model] as const),
  ...["gpt-4.1", "gpt-5", "gpt-5.1", "o3", "o4-mini"].map((model) => ["openai-responses", model] as const),
];

/** The short run samples them, because the rows above cover each family. */
const tried = everyModel.filter((_, index) => isFullRun || index % 3 === 0);

test.each(tried)("%s, %s: the server accepts every effort", async (wire, model) => {
  const { server, open } = await openWire(wire, { entry: { model } });
  for (const reasoningEffort of reasoningEfforts) {
    server.enqueue({ thinking: ["hm"], calls: [{ name: "LS", input: { directory_path: "." } }] }, { text: ["ok"] });
    const outcome = await ask(await open({ reasoningEffort }), "hi");
    expect([reasoningEffort, outcome.reason, outcome.failure]).toEqual([reasoningEffort, "completed", undefined]);
  }
  expect(server.requests.flatMap(({ faults }) => faults)).toEqual([]);
});

/** False for a clamped effort, which sends the same as a lower one and comes with a notice. */
function isOffered(effort: ReasoningEffort, expected: Row[2]): boolean {
  if (effort === "none" || effort === "dynamic") return true;
  const sent = JSON.stringify(expected[effort]);
  if (sent === undefined) return false;
  const names: Partial<Record<string, RegExp>> = { off: /none|disabled/ };
  const own = names[effort] ?? new RegExp(`"${effort}"|"(budget_tokens|thinkingBudget)":${amounts[effort] ?? "x"}\\b`);
  return own.test(sent);
}

const amounts: Partial<Record<string, string>> = {
  minimal: "1024",
  low: "4096",
  medium: "10240",
  high: "24576",
  xhigh: "32768",
  max: "59904",
};

function effortOptionsIn(body: unknown): Record<string, unknown> {
  const { thinking, output_config, reasoning, reasoning_effort, generationConfig } = body as Record<string, never>;
  const { thinkingConfig } = (generationConfig ?? {}) as Record<string, never>;
  return JSON.parse(JSON.stringify({ thinking, output_config, reasoning, reasoning_effort, thinkingConfig })) as Record<
    string,
    unknown
  >;
}
