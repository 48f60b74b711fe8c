import { describe, expect, test } from "vitest";
import type { ErrorCode, FailureCause } from "../../../../src/engine/errors.ts";
import type { Interaction } from "../../../../src/engine/interaction.ts";
import type { Message } from "../../../../src/engine/message.ts";
import type { Decision, Preview } from "../../../../src/engine/permission.ts";
import {
  retryReason,
  turnEndReason,
  turnError,
} from "../../../../src/frontends/stream-jsonrpc/notifications/turn-end.ts";
import { wireHistory } from "../../../../src/frontends/stream-jsonrpc/notifications/wire-messages.ts";
import { permissionParams } from "../../../../src/frontends/stream-jsonrpc/requests/permission-request.ts";
import { message as messageSchema } from "../../../../src/protocol/droid/content.ts";
import { requestPermissionParams } from "../../../../src/protocol/droid/server-requests.ts";
import { calls, createKit, says } from "../../../fakes/kit.ts";
import { listenTranslated, text } from "../translated.ts";

describe("a history", () => {
  test("has reminders first, parents, results and every kind of block", () => {
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const messages: readonly Message[] = [
      {
        id: "u",
        role: "user",
        createdAt: 1,
        content: [
          { type: "reminder", text: "where" },
          image,
          { type: "image", mediaType: "image/bmp", data: "AAAA" },
          { type: "document", mediaType: "text/csv", encoding: "base64", data: "AAAA", name: "a.csv" },
          text("look"),
        ],
      },
      {
        id: "a",
        role: "assistant",
        createdAt: 2,
        stop: "tool_calls",
        model: "m",
        content: [
          { type: "thinking", text: "hm", proof: { google: { thoughtSignature: "g" } } },
          { type: "thinking", text: "", proof: { openai: { itemId: "i", reasoningEncryptedContent: "e" } } },
          { type: "thinking", text: "plain", proof: { chat: {} } },
          { type: "thinking", text: "", proof: { anthropic: { redactedData: "r" } } },
          text("so"),
          { type: "tool_call", id: "c1", name: "Read", input: { file_path: "/x" } },
          { type: "tool_call", id: "c2", name: "Read", input: undefined, malformedInput: "{" },
        ],
      },
      {
        id: "t",
        role: "tool",
        createdAt: 3,
        content: [
          { type: "tool_result", callId: "c1", name: "Read", status: "ok", text: "seen", media: [image] },
          { type: "tool_result", callId: "c2", name: "Read", status: "failed", text: "Error: no" },
        ],
      },
    ];
    const shownImage = { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } };
    const history = wireHistory(messages);
    expect(history).toEqual([
      {
        id: "u",
        role: "user",
        content: [
          text("<system-reminder>\nwhere\n</system-reminder>"),
          shownImage,
          text("[An image (image/bmp) that cannot be shown here.]"),
          text("[The document a.csv (text/csv) cannot be shown here.]"),
          text("look"),
        ],
        createdAt: 1,
        updatedAt: 1,
        parentId: "root",
      },
      {
        id: "a",
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "g" },
          { type: "thinking", thinking: "", signature: "e" },
          { type: "thinking", thinking: "plain", signature: "" },
          { type: "redacted_thinking", data: "r" },
          text("so"),
          { type: "tool_use", id: "c1", name: "Read", input: { file_path: "/x" } },
          { type: "tool_use", id: "c2", name: "Read", input: {} },
        ],
        createdAt: 2,
        updatedAt: 2,
        parentId: "u",
      },
      {
        id: "t",
        role: "tool",
        content: [
          { type: "tool_result", toolUseId: "c1", content: [text("seen"), shownImage], isError: false },
          { type: "tool_result", toolUseId: "c2", content: "Error: no", isError: true },
        ],
        createdAt: 3,
        updatedAt: 3,
        parentId: "a",
      },
    ]);
    expect(history.map((message) => messageSchema.parse(message))).toEqual(history);
  });

  test("equals what was sent while it happened", async () => {
    let waiting: Promise<unknown> = Promise.resolve();
    const kit = createKit([
      calls(["LS", {}]),
      async function* () {
        const second = client.prompt("b", { requestId: "r2", messageId: "second" });
        waiting = second.outcome;
        await second.accepted;
        kit.clock.advance(5);
        yield* says("done");
      },
      says("more"),
    ]);
    const session = await kit.open();
    const client = listenTranslated(session);
    await client.prompt("a", { requestId: "r1" }).outcome;
    await waiting;
    await client.stop();
    const told = client.sent.flatMap((entry) => ("message" in entry ? [entry.message] : []));
    expect(wireHistory(session.history()).filter(({ role }) => role !== "tool")).toEqual(told);
  });
});

describe("the details of a request", () => {
  const asked = (
    name: string,
    input: unknown,
    preview?: Preview,
    { why = "It reads.", violations = true, ...more }: Partial<Decision & { violations: boolean }> = {},
  ): unknown => {
    const interaction: Interaction & { kind: "permission" } = {
      kind: "permission",
      calls: [
        {
          call: { type: "tool_call", id: "c", name, input },
          decision: { verdict: "ask", class: "low", impact: "low", extractedCommands: [], rule: "r", why, ...more },
          ...(preview === undefined ? {} : { preview }),
        },
      ],
    };
    const params = permissionParams(interaction, { vocabulary: { violations, serverChoices: true } });
    expect(requestPermissionParams.parse(params)).toEqual(params);
    expect(params.toolUses[0]?.confirmationType).toBe(params.toolUses[0]?.details.type);
    return params.toolUses[0]?.details;
  };
  const exec = { type: "exec", impactLevel: "low", riskLevelReason: "It reads." };

  test("of a command with unknown programs", () => {
    expect(asked("Execute", {}, { type: "command", command: "$X" })).toEqual({
      ...exec,
      fullCommand: "$X",
      command: "Execute",
      extractedCommands: [],
    });
  });

  const shown = { fullCommand: "./x", command: "Execute", extractedCommands: [] };

  test.each([[true], [false]])("of a command where others are contained: %s", (contained) => {
    expect(asked("Execute", {}, { type: "command", command: "./x" }, { contained })).toEqual({
      ...exec,
      ...shown,
      contained,
    });
  });

  test("of a server's tool: the names are shown escaped, and the server's words nowhere", () => {
    const marks = { server: "s", tool: "t" };
    const server = { server: "linear", tool: "all clear\n\u202eand safe", marks };
    const input = { title: "x" };
    expect(asked("linear___all", input, { type: "server", ...server }, { server, impact: "high" })).toEqual({
      type: "mcp_tool",
      toolName: "linear___all",
      serverName: "linear",
      actualToolName: "all clear\\u{a}\\u{202e}and safe",
      impactLevel: "high",
      riskLevelReason: "It reads.",
    });
  });

  test("of a command that asks to leave the sandbox, for clients that know that kind", () => {
    const of = (violations: boolean) =>
      asked(
        "Execute",
        {},
        { type: "command", command: "./x" },
        { rule: "leaves-sandbox", contained: false, violations },
      );
    expect([of(true), of(false)]).toEqual([
      {
        type: "sandbox_violation",
        violatingToolName: "Execute",
        target: "./x",
        operationType: "tool",
        violationType: "tool",
        reason: "It reads.",
        violationReason: "not-allowed",
        isOrgDeny: false,
        ...shown,
        impactLevel: "low",
        riskLevelReason: "It reads.",
        contained: false,
      },
      { ...exec, ...shown, contained: false },
    ]);
  });

  test("of edits have both texts if there are both", () => {
    const file = { filePath: "/ws/d/a.txt", fileName: "a.txt" };
    const preview = { type: "edit", path: "/ws/d/a.txt" } as const;
    expect(asked("Edit", {}, preview)).toEqual({ type: "edit", ...file });
    expect(asked("Edit", {}, { ...preview, oldContent: "", newContent: "b" })).toEqual({
      type: "edit",
      ...file,
      oldContent: "",
      newContent: "b",
    });
  });

  test("of a patch have the first file, and all of them", () => {
    const files = [
      { path: "/ws/a.txt", change: "update", oldContent: "a", newContent: "b", movedTo: "/ws/b.txt" },
      { path: "/ws/c.txt", change: "delete", oldContent: "c" },
    ] as const;
    expect(asked("ApplyPatch", {}, { type: "patch", patch: "*** Begin", files })).toEqual({
      type: "apply_patch",
      filePath: "/ws/a.txt",
      fileName: "a.txt",
      patchContent: "*** Begin",
      oldContent: "a",
      newContent: "b",
      files: [
        {
          change: "update",
          filePath: "/ws/a.txt",
          fileName: "a.txt",
          oldContent: "a",
          newContent: "b",
          movedTo: "/ws/b.txt",
        },
        { change: "delete", filePath: "/ws/c.txt", fileName: "c.txt", oldContent: "c" },
      ],
    });
    expect(asked("ApplyPatch", {}, { type: "patch", patch: "?", files: [] })).toEqual({
      type: "apply_patch",
      filePath: "",
      fileName: "",
      patchContent: "?",
      files: [],
    });
  });

  test.each([
    ["FetchUrl", {}, { type: "fetch", url: "https://a.example/" }, "FetchUrl https://a.example/"],
    ["FetchUrl", { url: "https://b.example/" }, undefined, 'FetchUrl {"url":"https://b.example/"}'],
    ["Read", { file_path: "notes.txt" }, { type: "paths", paths: ["/etc/shadow"] }, "Read /etc/shadow"],
    ["Read", { file_path: "x", limit: 3 }, { type: "paths", paths: ["/etc/x"] }, 'Read /etc/x {"limit":3}'],
    ["Read", { file_path: "/etc/x" }, undefined, 'Read {"file_path":"/etc/x"}'],
    ["LS", { directory_path: "etc" }, { type: "paths", paths: ["/etc"] }, "LS /etc"],
    ["Glob", { patterns: "*", folder: "etc" }, { type: "paths", paths: ["/etc"] }, 'Glob /etc {"patterns":"*"}'],
    [
      "Grep",
      { pattern: "a", path: "etc" },
      { type: "paths", paths: ["/etc", "/usr"] },
      'Grep /etc, /usr {"pattern":"a"}',
    ],
    ["Odd", undefined, undefined, "Odd"],
  ] as const)("of %s with %j", (name, input, preview, fullCommand) => {
    const named = { command: name, extractedCommands: [name] };
    expect(asked(name, input, preview)).toEqual({ ...exec, fullCommand, ...named });
  });

  test.each([
    ["Odd", { a: "x".repeat(3_000) }, undefined, 'Odd {"a":"', 1_012],
    ["Grep", { pattern: "x".repeat(3_000), path: "l" }, ["/root/.ssh"], 'Grep /root/.ssh {"pattern":"', 1_030],
    ["Read", { file_path: "l", limit: 1 }, [`/${"x".repeat(3_000)}`], "Read /", 1_018],
  ])("of %s are cut visibly, and paths last", (name, input, paths, start, more) => {
    const preview = paths === undefined ? undefined : ({ type: "paths", paths } as const);
    const { fullCommand } = asked(name, input, preview) as { fullCommand: string };
    expect(fullCommand).toBe(`${start.padEnd(2_000, "x")}… (${more} more characters)`);
  });

  test("of a command are neither cut nor changed", () => {
    const command = `echo "${"x".repeat(3_000)}"\n\techo é`;
    expect(asked("Execute", {}, { type: "command", command })).toMatchObject({ fullCommand: command });
  });

  test("escape invisible characters and direction marks", () => {
    const path = "/ws/a\u202egpj.txt\u001b[2K";
    const shown = { filePath: "/ws/a\\u{202e}gpj.txt\\u{1b}[2K", fileName: "a\\u{202e}gpj.txt\\u{1b}[2K" };
    const read = asked(
      "Read",
      { file_path: "a", "\u200b": "\u2066" },
      { type: "paths", paths: [path] },
      { why: `It reads ${path}.` },
    );
    expect([
      read,
      asked("FetchUrl", {}, { type: "fetch", url: "https://a.example/\u200b" }),
      asked("Create", {}, { type: "create", path, content: "\u202e" }),
      asked("Edit", {}, { type: "edit", path }),
      asked("ApplyPatch", {}, { type: "patch", patch: "", files: [{ path, change: "update", movedTo: path }] }),
    ]).toEqual([
      {
        ...exec,
        fullCommand: `Read ${shown.filePath} {"\\u{200b}":"\\u{2066}"}`,
        command: "Read",
        extractedCommands: ["Read"],
        riskLevelReason: `It reads ${shown.filePath}.`,
      },
      {
        ...exec,
        fullCommand: "FetchUrl https://a.example/\\u{200b}",
        command: "FetchUrl",
        extractedCommands: ["FetchUrl"],
      },
      { type: "create", ...shown, content: "\u202e" },
      { type: "edit", ...shown },
      {
        type: "apply_patch",
        ...shown,
        patchContent: "",
        files: [{ ...shown, change: "update", movedTo: shown.filePath }],
      },
    ]);
  });
});

describe("the end of a turn", () => {
  const failed = (code: ErrorCode, cause?: FailureCause) =>
    turnEndReason("failed", { code, message: "m", ...(cause === undefined ? {} : { cause }) });

  test("has its reason", () => {
    const ends = [
      "completed",
      "planned",
      "interrupted",
      "cancelled",
      "denied",
      "refused",
      "limit",
      "length",
      "context_full",
      "failed",
    ] as const;
    expect(
      ends.map((reason) => [reason, turnEndReason(reason, undefined), turnError(reason, undefined, 0)?.error]),
    ).toEqual([
      ["completed", "completed", undefined],
      ["planned", "spec_handoff", undefined],
      ["interrupted", "cancelled", undefined],
      ["cancelled", "permission_rejected", undefined],
      ["denied", "no_approver_available", expect.objectContaining({ name: "denied" })],
      ["refused", "prompt_rejected", expect.objectContaining({ name: "model_refused" })],
      ["limit", "error", expect.objectContaining({ name: "limit_turns" })],
      ["length", "error", expect.objectContaining({ name: "output_limit" })],
      ["context_full", "error", expect.objectContaining({ name: "context_full" })],
      ["failed", "error", expect.objectContaining({ name: "internal" })],
    ]);
  });

  test("of a failure names it", () => {
    expect(failed("model_auth")).toBe("model_authentication_failed");
    expect(failed("model_bad_request")).toBe("model_request_rejected");
    expect(failed("model_overloaded", "rate_limited")).toBe("model_provider_unavailable");
    expect(failed("storage_failed")).toBe("completion_persistence_failed");
    expect(failed("model_failed", "network")).toBe("model_provider_unreachable");
    expect(failed("model_failed", "timeout")).toBe("model_provider_unavailable");
    expect(failed("model_failed")).toBe("model_provider_unavailable");
    expect(failed("model_empty", "empty_response")).toBe("error");
  });

  test("has an error type that clients know", () => {
    const typeOf = (code: ErrorCode, cause?: FailureCause) =>
      turnError("failed", { code, message: "m", ...(cause === undefined ? {} : { cause }) }, 0)?.errorType;
    expect(typeOf("model_failed", "network")).toBe("ConnectionError");
    expect(typeOf("model_failed", "timeout")).toBe("TimeoutError");
    expect(typeOf("storage_failed")).toBe("SessionError");
    expect(typeOf("model_auth")).toBe("Error");
  });

  test("a retry has its reason", () => {
    const reason = (code: ErrorCode, cause?: FailureCause) =>
      retryReason({ code, message: "m", ...(cause === undefined ? {} : { cause }) });
    expect(reason("model_failed", "timeout")).toBe("timeout");
    expect(reason("model_overloaded")).toBe("overloaded");
    expect(reason("model_empty")).toBe("empty_response");
    expect(reason("model_failed")).toBe("unknown");
  });
});
