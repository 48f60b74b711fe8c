import type { PermissionOption, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { askPermission } from "../../../../src/frontends/acp/requests/permissions.ts";
import { createTranslator } from "../../../../src/frontends/acp/view/acp-updates.ts";
import type { PermissionCall } from "../../../../src/sdk/types.ts";

const options = [
  ["proceed_once", "Yes, allow"],
  ["proceed_always_tools", 'Yes, and always allow "create" of "linear"'],
  ["proceed_always_server", 'Yes, and always allow all tools of "linear"'],
  ["cancel", "No, cancel"],
].map(([value = "", label = ""]) => ({ value, label }));

async function asked(details: PermissionCall["details"], chosen: string) {
  const shown: { readonly toolCall: ToolCallUpdate; readonly offered: readonly PermissionOption[] }[] = [];
  const client = {
    capabilities: {},
    update: async () => undefined,
    elicit: async () => ({ action: "cancel" }) as const,
    completed: () => undefined,
    choose: async (_: string, toolCall: ToolCallUpdate, offered: readonly PermissionOption[]) => {
      shown.push({ toolCall, offered });
      return chosen;
    },
  };
  const calls = [{ id: "c", name: "linear___create", input: { title: "x" }, details }];
  const { signal } = new AbortController();
  const around = { client, translator: createTranslator("/ws"), sessionId: "s" };
  return { answer: await askPermission({ id: "r", calls, options, signal }, around), shown };
}

test("a call of an MCP tool is shown with its server, its arguments and the reason", async () => {
  const details = {
    type: "mcp_tool",
    toolName: "linear___create",
    serverName: "linear",
    actualToolName: "create",
    impactLevel: "high",
    riskLevelReason: "It calls create.",
  } as const;
  const { answer, shown } = await asked(details, "proceed_always_server");
  expect(answer).toBe("proceed_always_server");
  const text = (words: string) => ({ type: "content", content: { type: "text", text: words } });
  expect(shown).toEqual([
    {
      toolCall: {
        toolCallId: "c",
        name: "linear___create",
        title: 'linear: create {"title":"x"}',
        kind: "other",
        status: "pending",
        locations: [],
        rawInput: { title: "x" },
        content: [
          text("The tool create of the MCP server linear, with:"),
          text('```\n{\n  "title": "x"\n}\n```'),
          text("It calls create."),
        ],
      },
      offered: [
        { optionId: "proceed_once", name: "Yes, allow", kind: "allow_once" },
        {
          optionId: "proceed_always_tools",
          name: 'Yes, and always allow "create" of "linear"',
          kind: "allow_always",
        },
        {
          optionId: "proceed_always_server",
          name: 'Yes, and always allow all tools of "linear"',
          kind: "allow_always",
        },
        { optionId: "cancel", name: "No, cancel", kind: "reject_once" },
      ],
    },
  ]);
});

test("names that a backend leaves out or fills with markup do no harm", async () => {
  const { shown } = await asked({ type: "mcp_tool", toolName: "**[x](y)**" }, "cancel");
  expect(shown[0]?.toolCall.content?.[0]).toEqual({
    type: "content",
    content: { type: "text", text: "The tool `**[x](y)**` of an MCP server, with:" },
  });
});
