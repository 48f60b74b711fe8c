import { describe, expect, test } from "vitest";
import type { Payload } from "../../fakes/rpc/sdk-connection.ts";
import { atBothLevels, ofType, reasonOf, results, since, states, usage } from "./both-levels.ts";

atBothLevels((stage) => {
  const stepsOf = (types: readonly string[]): readonly string[] =>
    types.filter((type, at) => !type.endsWith("_complete") && type !== types[at - 1]);

  describe("turns", () => {
    test("of the offline model", async () => {
      const { client } = stage;
      await client.open({ modelId: "offline" });
      const turn = await client.turn("Just reply OK.");
      expect([turn.outcome, turn.text, reasonOf(turn)]).toEqual(["success", "OK", "completed"]);
    });

    test("have thinking, text and token counts", async () => {
      const { client } = stage;
      await stage.scripted([
        {
          reasoning: ["Let me", " think."],
          text: ["Hello ", "there."],
          usage: { input: 120, output: 30, cache_read: 100, thinking: 12 },
        },
        { text: "Again.", usage: { input: 10, output: 5 } },
      ]);
      const turn = await client.turn("Say hello.");
      const end = client.level === "low" ? ["droid_working_state_changed"] : [];
      expect(stepsOf(turn.notices.map(({ type }) => type))).toEqual([
        "droid_working_state_changed",
        "create_message",
        "session_title_updated",
        "thinking_text_delta",
        "assistant_text_delta",
        "create_message",
        "session_token_usage_changed",
        "agent_turn_completed",
        ...end,
      ]);
      expect(["thinking_text_complete", "assistant_text_complete"].map((type) => ofType(turn, type).length)).toEqual([
        1, 1,
      ]);
      const said = ofType(turn, "create_message").map(({ message }) => message as Payload);
      expect(said).toMatchObject([
        { role: "user", parentId: "root", content: [{ type: "text", text: "Say hello." }] },
        {
          role: "assistant",
          parentId: said[0]?.id,
          content: [
            { type: "thinking", thinking: "Let me think.", signature: expect.any(String) },
            { type: "text", text: "Hello there." },
          ],
        },
      ]);
      const request = client.wire.sent.findLast(({ method }) => method === "droid.add_user_message");
      expect(ofType(turn, "create_message")[0]?.requestId).toBe(request?.id);
      const first = usage(120, 30, 100, 12);
      const turnId = client.level === "high" ? (request?.params as Payload | undefined)?.messageId : said[0]?.id;
      expect(ofType(turn, "agent_turn_completed")).toEqual([
        {
          type: "agent_turn_completed",
          reason: "completed",
          turnId,
          tokenUsage: first,
          cumulativeTokenUsage: first,
          durationMs: expect.any(Number),
        },
      ]);
      const next = await client.turn("And again.");
      expect(ofType(next, "agent_turn_completed")).toMatchObject([
        { tokenUsage: usage(10, 5, 0, 0), cumulativeTokenUsage: usage(130, 35, 100, 12) },
      ]);
      expect(ofType(next, "session_token_usage_changed").at(-1)).toMatchObject({
        sessionId: client.sessionId(),
        tokenUsage: usage(130, 35, 100, 12),
      });
      expect(ofType(next, "create_message")[0]).toMatchObject({ message: { parentId: said[1]?.id } });
      expect(ofType(next, "session_title_updated")).toEqual([]);
    });

    test("with tools report each call and its result", async () => {
      const { client, bench } = stage;
      await bench.file("a.txt", "alpha\n");
      const replies = [
        {
          text: "I look.",
          tool_calls: [
            { id: "one", name: "Read", input: { file_path: "a.txt" }, chunks: 3 },
            { id: "two", name: "Read", input: { file_path: "none.txt" } },
          ],
        },
        { text: "Seen: {{tool_result}}" },
      ];
      await stage.scripted(replies);
      const turn = await client.turn("Look at a.txt");
      expect(results(turn)).toMatchObject([
        { content: expect.stringContaining("alpha"), isError: false },
        { isError: true },
      ]);
      expect(turn.text).toContain("alpha");
      const calls = ofType(turn, "tool_call").map(({ toolUse }) => toolUse as Payload);
      expect(calls[0]).toEqual({ type: "tool_use", id: "one", name: "Read", input: {} });
      expect(calls.findLast(({ id }) => id === "one")?.input).toEqual({ file_path: "a.txt" });
      expect(calls.findLast(({ id }) => id === "two")?.input).toEqual({ file_path: "none.txt" });
      expect(states(turn).slice(0, 3)).toEqual([
        "streaming_assistant_message",
        "executing_tool",
        "streaming_assistant_message",
      ]);
    });

    test("requested during a turn follow it in order", async () => {
      const { client } = stage;
      await stage.scripted([
        { text: ["one ", "by ", "one ", "and ", "slowly"], chunk_delay_ms: 40 },
        { text: "second" },
        { text: "third" },
      ]);
      const from = client.wire.received.length;
      const first = client.turn("1");
      await client.wire.waitForNotice("assistant_text_delta", from);
      const answers = [await Promise.all([first, client.turn("2")]), await client.turn("3")].flat();
      expect(answers.map(({ text }) => text)).toEqual(["one by one and slowly", "second", "third"]);
      const ends = since(client.wire, from).filter(({ type }) => type === "agent_turn_completed");
      expect(ends).toHaveLength(3);
    });

    test("report why they fail, and the session continues", async () => {
      const { client } = stage;
      await stage.scripted([
        { error: { status: 401, message: "bad key" } },
        { error: { status: 400, message: "what is this" } },
        { text: "Back." },
      ]);
      const refused = await client.turn("hi");
      expect([refused.outcome, reasonOf(refused)]).toEqual(["error_during_execution", "model_authentication_failed"]);
      expect(refused.error).toContain("bad key");
      expect(reasonOf(await client.turn("hi"))).toBe("model_request_rejected");
      expect(await client.turn("hi")).toMatchObject({ outcome: "success", text: "Back." });
    });

    test("report retries without repeating any text", async () => {
      const { client } = stage;
      await stage.scripted([
        { text: "First half, ", error: "cut" },
        { error: { status: 429, message: "slow down", retry_after_ms: 10 } },
        { text: "second half." },
      ]);
      const turn = await client.turn("hi");
      expect(turn).toMatchObject({ outcome: "success", text: "First half, second half." });
      expect(ofType(turn, "llm_retry")).toMatchObject([
        { attempt: 1, reason: "network" },
        { attempt: 2, reason: "rate_limited" },
      ]);
    });

    test("accept images and files", async () => {
      const { client } = stage;
      const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
      await stage.scripted([{ text: "I see." }], {}, { model: { images: true } });
      const turn = await client.turn("What is this?", {
        images: [{ type: "base64", mediaType: "image/png", data: dot }],
        files: [{ type: "text", mediaType: "text/plain", data: "a note", name: "note.txt" }],
      });
      const [user] = ofType(turn, "create_message").map(({ message }) => message as { content: Payload[] });
      expect(user?.content.map(({ type }) => type).sort()).toEqual(["document", "image", "text"]);
      expect(user?.content.at(-1)).toEqual({ type: "text", text: "What is this?" });
    });
  });
});
