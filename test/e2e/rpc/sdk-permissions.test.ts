import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { always, atBothLevels, ofType, reasonOf, results, run, states } from "./both-levels.ts";

const question = {
  name: "AskUser",
  input: { questionnaire: "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue" },
};
const plan = { name: "ExitSpecMode", input: { plan: "# Steps\n\n1. Make x.txt", title: "Make a file" } };
const create = { name: "Create", input: { file_path: "x.txt", content: "made\n" } };

atBothLevels((stage) => {
  describe("permissions", () => {
    test("allowed once: asks each time", async () => {
      const { client, bench } = stage;
      const yes = always("proceed_once");
      client.handlers.permission = yes.permission;
      const command = "echo line >> once.txt";
      await stage.scripted([run(command), run(command), { text: "done" }]);
      const turn = await client.turn("go");
      expect([turn.outcome, turn.text]).toEqual(["success", "done"]);
      expect(await bench.read("once.txt")).toBe("line\nline\n");
      const [asked] = yes.asked;
      const id = asked?.toolUses[0]?.toolUse.id;
      expect(asked).toEqual({
        toolUses: [
          {
            toolUse: { type: "tool_use", id, name: "Execute", input: { command, riskLevel: "medium" } },
            confirmationType: "exec",
            details: {
              type: "exec",
              fullCommand: command,
              command: "echo",
              extractedCommands: ["echo"],
              impactLevel: "medium",
              riskLevelReason: `Execute runs "${command}": it writes once.txt.`,
            },
          },
        ],
        options: [
          { label: "Yes, allow", value: "proceed_once", selectedColor: "#E3992A" },
          {
            label: "Yes, and always allow medium impact commands (all commands that are reversible)",
            value: "proceed_always",
            selectedColor: "#E3992A",
          },
          { label: "No, cancel", value: "cancel", selectedColor: "#E54048", selectedPrefix: "✕ " },
        ],
      });
      expect(yes.asked).toHaveLength(2);
      expect(ofType(turn, "permission_resolved")).toMatchObject([
        { toolUseIds: [id], selectedOption: "proceed_once" },
        { selectedOption: "proceed_once" },
      ]);
      expect(states(turn).slice(0, 5)).toEqual([
        "streaming_assistant_message",
        "executing_tool",
        "waiting_for_tool_confirmation",
        "executing_tool",
        "streaming_assistant_message",
      ]);
    });

    test("allowed always: raises the level, and asks only above it", async () => {
      const { client, bench } = stage;
      const yes = always("proceed_always");
      client.handlers.permission = yes.permission;
      const command = "echo line >> always.txt";
      await stage.scripted([run(command), run(command), { text: "done" }]);
      const turn = await client.turn("go");
      expect(turn.text).toBe("done");
      expect(await bench.read("always.txt")).toBe("line\nline\n");
      expect(yes.asked).toHaveLength(1);
      const around = ["permission_resolved", "settings_updated", "tool_result"];
      expect(turn.notices.map(({ type }) => type).filter((type) => around.includes(type))).toEqual([
        "permission_resolved",
        "settings_updated",
        "tool_result",
        "tool_result",
      ]);
      expect(client.settings()).toMatchObject({
        autonomyLevel: "medium",
        autonomyMode: "auto-medium",
        interactionMode: "auto",
      });
    });

    test("rejected: nothing runs, and the turn ends", async () => {
      const { client } = stage;
      client.handlers.permission = always("cancel").permission;
      await stage.scripted([run("echo no > refused.txt"), { text: "not reached" }]);
      const turn = await client.turn("go");
      expect(turn.outcome).toBe(client.level === "high" ? "interrupted" : "success");
      expect(reasonOf(turn)).toBe("permission_rejected");
      expect(ofType(turn, "permission_resolved")).toMatchObject([{ toolUseIds: [], selectedOption: "cancel" }]);
      expect(results(turn)).toMatchObject([{ isError: true }]);
      expect(existsSync(join(stage.bench.cwd, "refused.txt"))).toBe(false);
    });

    test("without a handler: no", async () => {
      const { client } = stage;
      await stage.scripted([run("echo no > nobody.txt"), { text: "not reached" }]);
      expect(reasonOf(await client.turn("go"))).toBe("permission_rejected");
      expect(existsSync(join(stage.bench.cwd, "nobody.txt"))).toBe(false);
    });

    test("a handler that fails, or chooses an option not offered: no", async () => {
      const { client } = stage;
      await stage.scripted([run("echo no > failed.txt"), run("echo no > failed.txt")]);
      client.handlers.permission = () => {
        throw new TypeError("broken");
      };
      expect(reasonOf(await client.turn("go"))).toBe("permission_rejected");
      client.handlers.permission = () => "proceed_maybe";
      expect(reasonOf(await client.turn("go"))).toBe("permission_rejected");
      expect(existsSync(join(stage.bench.cwd, "failed.txt"))).toBe(false);
    });

    test("asks about several calls at once, and shows files", async () => {
      const { client, bench } = stage;
      await bench.file("old.txt", "one\ntwo\n");
      const yes = always("proceed_once");
      client.handlers.permission = yes.permission;
      await stage.scripted([
        { tool_calls: [{ name: "Read", input: { file_path: "old.txt" } }] },
        {
          tool_calls: [
            { name: "Edit", input: { file_path: "old.txt", old_str: "two", new_str: "three" } },
            { name: "Create", input: { file_path: "sub/new.txt", content: "fresh\n" } },
          ],
        },
        { text: "done" },
      ]);
      const turn = await client.turn("go");
      expect(turn.text).toBe("done");
      expect([await bench.read("old.txt"), await bench.read("sub/new.txt")]).toEqual(["one\nthree\n", "fresh\n"]);
      expect(yes.asked.map(({ toolUses }) => toolUses.map(({ details }) => details))).toMatchObject([
        [
          { type: "edit", fileName: "old.txt", oldContent: "one\ntwo\n", newContent: "one\nthree\n" },
          { type: "create", fileName: "new.txt", content: "fresh\n" },
        ],
      ]);
      expect(yes.asked[0]?.options.map(({ label }) => label)).toEqual([
        "Yes, allow all",
        "Yes, and always allow low impact commands (file edits and read-only commands)",
        "No, cancel all",
      ]);
    });

    test("skipped on request", async () => {
      const { client, bench } = stage;
      await stage.scripted([run("echo yes > skipped.txt", "high"), { text: "done" }], { skipPermissionsUnsafe: true });
      expect((await client.turn("go")).text).toBe("done");
      expect(await bench.read("skipped.txt")).toBe("yes\n");
    });
  });

  describe("questions", () => {
    test("answered: the model reads the answers", async () => {
      const { client } = stage;
      await stage.scripted([{ tool_calls: [question] }, { text: "{{tool_result}}" }]);
      const asked: unknown[] = [];
      client.handlers.question = ({ questions }) => {
        asked.push(questions);
        return ["Red"];
      };
      const turn = await client.turn("ask me");
      expect(asked).toEqual([[{ index: 1, topic: "Colour", question: "Which colour?", options: ["Red", "Blue"] }]]);
      expect(turn.text).toBe("1. [question] Which colour?\n[answer] Red");
      expect(ofType(turn, "permission_resolved")).toEqual([]);
      expect(states(turn)).toContain("waiting_for_tool_confirmation");
    });

    test("without a handler: the model learns that, and continues", async () => {
      const { client } = stage;
      await stage.scripted([{ tool_calls: [question] }, { text: "Then I decide." }]);
      const turn = await client.turn("ask me");
      expect([turn.outcome, turn.text]).toEqual(["success", "Then I decide."]);
      expect(results(turn)).toEqual([{ content: "Error: User cancelled AskUser", isError: true }]);
    });

    test("of the offline model", async () => {
      const { client } = stage;
      await client.open({ modelId: "offline" });
      client.handlers.question = ({ questions }) => questions.map(({ options }) => options[1] ?? "");
      expect((await client.turn("ask me which colour I want: red or blue")).text).toContain("blue");
    });
  });

  describe("plans", () => {
    test("approved: leaves the mode, and continues at the chosen level", async () => {
      const { client, bench } = stage;
      const yes = always("proceed_auto_run_low");
      client.handlers.permission = yes.permission;
      await stage.scripted([{ tool_calls: [plan] }, { tool_calls: [create] }, { text: "done" }], {
        interactionMode: "spec",
      });
      expect(client.settings()).toMatchObject({ interactionMode: "spec", autonomyMode: "spec", autonomyLevel: "off" });
      const turn = await client.turn("make x.txt");
      expect([turn.outcome, turn.text, await bench.read("x.txt")]).toEqual(["success", "done", "made\n"]);
      expect(yes.asked).toMatchObject([
        { toolUses: [{ confirmationType: "exit_spec_mode", details: { type: "exit_spec_mode", ...plan.input } }] },
      ]);
      expect(yes.asked[0]?.options).toHaveLength(5);
      const around = ["permission_resolved", "settings_updated", "tool_result"];
      expect(turn.notices.map(({ type }) => type).filter((type) => around.includes(type))).toEqual([
        ...around,
        "tool_result",
      ]);
      expect(client.settings()).toMatchObject({
        interactionMode: "auto",
        autonomyMode: "auto-low",
        autonomyLevel: "low",
      });
      expect(JSON.parse(String(results(turn)[0]?.content))).toMatchObject({
        approved: true,
        filePath: expect.stringContaining("make-a-file"),
        handoff: { ...plan.input, isNewSession: false },
        isEdited: false,
      });
    });

    test("not approved: keeps the mode, and creates nothing", async () => {
      const { client } = stage;
      await stage.scripted([{ tool_calls: [plan] }, { text: "not reached" }], { interactionMode: "spec" });
      const turn = await client.turn("make y.txt");
      expect([reasonOf(turn), client.settings().interactionMode]).toEqual(["permission_rejected", "spec"]);
      expect(ofType(turn, "settings_updated")).toEqual([]);
      expect(ofType(turn, "permission_resolved")).toMatchObject([{ toolUseIds: [], selectedOption: "cancel" }]);
    });

    test("of the offline model, from the mode to the file", async () => {
      const { client, bench } = stage;
      client.handlers.permission = always("proceed_auto_run_low").permission;
      await client.open({ modelId: "offline", interactionMode: "spec" });
      const turn = await client.turn("create file planned.txt with hello");
      expect(turn.outcome).toBe("success");
      expect((await bench.read("planned.txt")).trim()).toBe("hello");
    });
  });
});
