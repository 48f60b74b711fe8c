import { expect } from "vitest";

/* The models of browser.test.ts, and the expected output. */

const run = (command: string) => ({ name: "Execute", input: { command, riskLevel: "medium" } });
const questionnaire = `1. [question] Which colour?
[topic] Colour
[option] Red
[option] Blue
2. [question] Which kind?
[topic] Kind
[option] Round
[option] Soft`;

export const scripts: Readonly<Record<string, readonly object[]>> = {
  streamed: [{ reasoning: "A greeting.", text: ["Grüße", " aus", " 漢字", " 🦫."] }],
  permission: [
    { tool_calls: [run("echo no > no.txt")] },
    { tool_calls: [run("echo yes > yes.txt")] },
    { text: "Made." },
  ],
  question: [{ tool_calls: [{ name: "AskUser", input: { questionnaire } }] }, { text: "{{tool_result}}" }],
  slow: [{ text: ["On", " and on", " and on"], chunk_delay_ms: 60_000 }, { text: "Stopped." }],
  conversation: [{ text: "First answer." }, { text: "Second answer." }],
  first: [{ tool_calls: [run("echo first > first.txt")] }, { text: "The first." }],
  second: [{ text: "The second." }],
};

/** Every reply has the same cost. */
export const counted = (reply: object) => ({ ...reply, usage: { input: 12, output: 5 } });
export const usage = (replies: number) => ({
  inputTokens: 12 * replies,
  outputTokens: 5 * replies,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
  thinkingTokens: 0,
});

export const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const settings = { reasoningEffort: "none", interactionMode: "auto", autonomyLevel: "off" };

export const ended = (status: string, text: string, replies = 1, reason = status) => ({
  status,
  reason,
  text,
  turnId: uuid,
  usage: usage(replies),
});

export const message = (whole: object, text: string) => ({
  type: "message",
  message: { ...whole, createdAt: expect.any(Number) },
  text,
});

export const permissionFor = (id: string, word: string) => {
  const command = `echo ${word} > ${word}.txt`;
  return {
    calls: [
      {
        id,
        name: "Execute",
        input: { command, riskLevel: "medium" },
        details: {
          type: "exec",
          fullCommand: command,
          command,
          extractedCommands: ["echo"],
          impactLevel: "medium",
          riskLevelReason: `Execute runs "${command}": it writes ${word}.txt.`,
        },
      },
    ],
    options: [
      { value: "proceed_once", label: "Yes, allow" },
      {
        value: "proceed_always",
        label: "Yes, and always allow medium impact commands (all commands that are reversible)",
      },
      { value: "cancel", label: "No, cancel" },
    ],
  };
};
