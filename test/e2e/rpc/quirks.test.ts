import { afterAll, beforeAll, expect, test } from "vitest";
import { storyOf } from "../../fakes/rpc/linked-client.ts";
import type { Received } from "../../fakes/rpc/wire.ts";
import { type Bench, createBench } from "../tinman.ts";
import { formats, line } from "./raw-client.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const reading = { tool_calls: [{ name: "LS", input: {} }] };

/** One turn with a call, and a failing request, with these options. */
async function talk(...args: readonly string[]) {
  const modelId = await bench.script([reading, { text: "done" }]);
  const stdin = [
    line("later", "open", "initialize_session", { machineId: "m", cwd: bench.cwd, modelId }),
    line("later", "lost", "load_session", { sessionId: "nobody" }),
    line("later", "say", "add_user_message", { text: "go" }),
  ].join("");
  const { stdout, ...end } = await bench.tinman([...formats, ...args], { stdin });
  const lines = stdout.trimEnd().split("\n");
  const messages = lines.filter((each) => each.startsWith('{"jsonrpc"')).map((each) => JSON.parse(each) as Received);
  return { strays: lines.length - messages.length, story: storyOf(messages), end };
}

const before = ["settings_updated", "mcp_status_changed", "result open"];
const shown = ["state streaming_assistant_message", "create_message user", "session_title_updated"];
const called = ["tool_call", "create_message assistant", "state executing_tool"];
const usage = "session_token_usage_changed";
const said = ["state streaming_assistant_message", "assistant_text_delta", "assistant_text_complete"];
const answered = (story: readonly string[]): readonly string[] =>
  story.filter((each, index) => each !== story[index - 1] || each !== "assistant_text_delta");

test("a turn has the requested faults, and stderr names them", async () => {
  const plain = await talk();
  expect({ ...plain, story: answered(plain.story) }).toEqual({
    strays: 0,
    story: [
      ...before,
      "error lost",
      "result say",
      ...shown,
      ...called,
      usage,
      "tool_result",
      ...said,
      "create_message assistant",
      usage,
      "agent_turn_completed",
      "state idle",
    ],
    end: { code: 0, signal: null, stderr: "" },
  });
  const odd = await talk("--quirks", "usage-after-idle,no-turn-end early-idle", "--quirks=null-ids,stray-lines");
  expect({ ...odd, strays: odd.strays > 3, story: answered(odd.story) }).toEqual({
    strays: true,
    story: [
      ...before,
      "error undefined",
      "result say",
      ...shown,
      ...called,
      "tool_result",
      ...said,
      "state idle",
      "create_message assistant",
      usage,
    ],
    end: {
      code: 0,
      signal: null,
      stderr:
        "tinman: this server misbehaves on purpose (--quirks): no-turn-end, usage-after-idle, early-idle, null-ids, stray-lines.\n",
    },
  });
});

test.each([
  [
    "an unknown name",
    [...formats, "--quirks", "early-idle,late"],
    /^tinman: Unknown quirk "late"\. Available: .*early-idle/,
  ],
  ["no name", [...formats, "--quirks", ","], /Give at least one name/],
  ["another format", ["exec", "--quirks", "early-idle", "hi"], /^tinman: --quirks needs --input-format stream-jsonrpc/],
] as const)("%s is a usage error in one line", async (_, args, words) => {
  const { code, stdout, stderr } = await bench.tinman(args);
  expect({ code, stdout, lines: stderr.split("\n").length }).toEqual({ code: 2, stdout: "", lines: 2 });
  expect(stderr).toMatch(words);
});
