import type { Bench } from "../e2e/tinman.ts";
import { openWire, type Received, type Wire } from "../fakes/rpc/wire.ts";

/** A message, and who sent it. */
export interface Said {
  readonly by: "client" | "tinman";
  readonly message: Received;
}

/** A conversation of the page: what both sides sent, in the client's order. */
export type Conversation = (bench: Bench) => Promise<readonly Said[]>;

type Body = Readonly<Record<string, unknown>>;

interface Talk {
  readonly said: Said[];
  readonly wire: Wire;
  /** Sends without waiting. Ids count from 1. */
  ask(method: string, params: Body): string;
  /** Sends, and waits for the response. */
  call(method: string, params: Body): Promise<Received>;
  until(type: string, more?: Readonly<Record<string, unknown>>): Promise<void>;
  asked(method: string): Promise<Received>;
  answer(request: Received, result: Body): void;
}

async function talk(bench: Bench, isLater: boolean, about: (talk: Talk) => Promise<void>): Promise<readonly Said[]> {
  const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
  const envelope = isLater ? { ...versions, factoryProtocolVersion: "1.15.0" } : versions;
  const wire = openWire(bench, { args: ["-m", "offline"] });
  const said: Said[] = [];
  let count = 0;
  let seen = 0;
  wire.subscribe((message) => said.push({ by: "tinman", message }));
  const say = (message: Received): void => {
    seen = wire.received.length;
    said.push({ by: "client", message });
    wire.send(message);
  };
  const ask: Talk["ask"] = (method, params) => {
    count += 1;
    const id = String(count);
    say({ ...envelope, type: "request", id, method: `droid.${method}`, params });
    return id;
  };
  await about({
    said,
    wire,
    ask,
    call: (method, params) => {
      const id = ask(method, params);
      return wire.waitFor((one) => one.type === "response" && one.id === id, `the response to ${method}`, seen);
    },
    until: async (type, more) => void (await wire.waitForNotice(type, seen, more)),
    asked: (method) => wire.waitFor((one) => one.method === `droid.${method}`, method, seen),
    answer: (request, result) => say({ ...envelope, type: "response", id: request.id ?? "", result }),
  });
  wire.eof();
  const { code, stderr } = await wire.exit();
  if (code !== 0) throw new Error(`the program ended with ${code}: ${stderr}`);
  return said;
}

const idle = { newState: "idle" };
const state = "droid_working_state_changed";

/** By their names on the page. */
export const conversations: Readonly<Record<string, Conversation>> = {
  plain: (bench) =>
    talk(bench, true, async ({ call, ask, until }) => {
      await call("initialize_session", { machineId: "demo", cwd: bench.cwd });
      ask("add_user_message", { text: "Just reply OK." });
      await until(state, idle);
    }),
  tool: (bench) =>
    opened(bench, { autonomyLevel: "off" }, async ({ ask, asked, answer, until }) => {
      ask("add_user_message", { text: "create file x.txt with hello" });
      answer(await asked("request_permission"), { selectedOption: "proceed_once" });
      await until(state, idle);
    }),
  details: async (bench) => {
    await bench.file("a.txt", "foo\n");
    return opened(bench, { autonomyLevel: "off" }, async ({ ask, asked, answer, until }) => {
      ask("add_user_message", { text: "run `mkdir -p out && touch out/a.txt`" });
      answer(await asked("request_permission"), { selectedOption: "cancel", comment: "Not in this folder." });
      await until(state, idle);
      ask("add_user_message", { text: "replace foo with bar in a.txt" });
      answer(await asked("request_permission"), { selectedOption: "proceed_always" });
      await until(state, idle);
    });
  },
  "plan-early": (bench) => plan(bench, { autonomyLevel: "spec" }, false),
  "plan-later": (bench) => plan(bench, { interactionMode: "spec" }, true),
  question: (bench) =>
    opened(bench, { autonomyLevel: "off" }, async ({ ask, asked, answer, until }) => {
      ask("add_user_message", { text: "ask me which colour I want: red or blue" });
      const question = "Which colour do you want?";
      answer(await asked("ask_user"), { cancelled: false, answers: [{ index: 1, question, answer: "red" }] });
      await until(state, idle);
    }),
  queue: (bench) =>
    opened(bench, { autonomyLevel: "off" }, async ({ ask, asked, answer, call, until }) => {
      ask("add_user_message", { text: "create file x.txt with hello" });
      const request = await asked("request_permission");
      await call("add_user_message", { text: "Just reply JOINED." });
      await call("add_user_message", { text: "Just reply OWN.", messageId: "turn-2" });
      answer(request, { selectedOption: "proceed_once" });
      await until("agent_turn_completed", { turnId: "turn-2" });
    }),
  interrupt: (bench) =>
    opened(bench, { autonomyLevel: "off" }, async ({ ask, call, until }) => {
      ask("add_user_message", { text: "run `sleep 60`", messageId: "turn-1" });
      // The last message before the command runs, so that both sides agree on the order.
      await until("session_token_usage_changed");
      await call("add_user_message", { text: "Just reply JOINED." });
      await call("add_user_message", { text: "Just reply LATER.", messageId: "turn-2" });
      ask("interrupt_session", {});
      await until(state, idle);
    }),
  load: async (bench) => {
    let sessionId: unknown;
    await talk(bench, true, async ({ call, ask, until }) => {
      const { result } = await call("initialize_session", { machineId: "demo", cwd: bench.cwd });
      sessionId = result?.sessionId;
      ask("add_user_message", { text: "The password is DOLPHIN-2288. Just reply OK." });
      await until(state, idle);
    });
    return talk(bench, true, async ({ call, ask, until }) => {
      await call("load_session", { sessionId });
      ask("add_user_message", { text: "What password did I tell you?" });
      await until(state, idle);
    });
  },
  reload: (bench) =>
    talk(bench, true, async ({ ask, asked, answer, call, until }) => {
      const { result } = await call("initialize_session", { machineId: "demo", cwd: bench.cwd });
      ask("add_user_message", { text: "create file x.txt with hello" });
      const request = await asked("request_permission");
      await call("add_user_message", { text: "Just reply LATER.", messageId: "turn-2" });
      await call("load_session", { sessionId: result?.sessionId });
      answer(request, { selectedOption: "proceed_once" });
      await until("agent_turn_completed", { turnId: "turn-2" });
    }),
  model: async (bench) => {
    const input = { command: "echo one; echo two; sleep 0.3", riskLevel: "low" };
    const modelId = await bench.script([
      { reasoning: "They want two words.", text: ["Two", " words."] },
      { tool_calls: [{ name: "Execute", input }] },
      { text: "Done." },
      { error: { status: 429, message: "Slow down.", retry_after_ms: 10 } },
      { error: { status: 401, message: "This key is not valid." } },
    ]);
    return opened(bench, { autonomyLevel: "off", modelId }, async ({ ask, until }) => {
      for (const text of ["Say two words.", "Run something.", "Go on."]) {
        ask("add_user_message", { text });
        await until(state, idle);
      }
    });
  },
  others: (bench) =>
    opened(bench, { autonomyLevel: "off" }, async ({ ask, call, until }) => {
      ask("add_user_message", { text: "Just reply OK." });
      await until(state, idle);
      await call("update_session_settings", { autonomyLevel: "low", disabledToolIds: ["Execute"] });
      await call("rename_session", { title: "A better name" });
      await call("get_context_stats", {});
      await call("fork_session", { title: "A copy" });
      await call("list_skills", {});
      await call("list_commands", {});
      await call("list_models", {});
      await call("list_tools", { restrictToolIds: ["Read"] });
      await call("get_rewind_info", {});
      await call("update_session_settings", { autonomyLevel: "bogus" });
      await call("load_session", { sessionId: "00000000-0000-4000-8000-000000000000" });
      await call("close_session", { reason: "other" });
      await call("get_context_stats", {});
    }),
};

/** The messages after the opening of a session. */
async function opened(
  bench: Bench,
  params: Body,
  about: (talk: Talk) => Promise<void>,
  isLater = true,
): Promise<readonly Said[]> {
  let from = 0;
  const all = await talk(bench, isLater, async (one) => {
    await one.call("initialize_session", { machineId: "demo", cwd: bench.cwd, ...params });
    from = one.said.length;
    await about(one);
  });
  return all.slice(from);
}

function plan(bench: Bench, params: Body, isLater: boolean): Promise<readonly Said[]> {
  const approve = async ({ ask, asked, answer, until }: Talk): Promise<void> => {
    ask("add_user_message", { text: "create file x.txt with hello" });
    answer(await asked("request_permission"), { selectedOption: "proceed_auto_run_low" });
    await until(state, idle);
  };
  return opened(bench, params, approve, isLater);
}
