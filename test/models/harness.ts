import type {
  AssistantMessage,
  Message,
  ReplyBlock,
  ToolCause,
  ToolResultBlock,
  ToolStatus,
  Usage,
} from "../../src/engine/message.ts";
import type { Clock, ModelEvent, ModelPort, ModelRequest, ToolSpec } from "../../src/engine/ports.ts";

/** Fires timers at once and records their durations, except timers that only watch. */
export function instantClock(): Clock & { readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  let now = 1_000;
  return {
    pauses,
    now: () => now,
    monotonic: () => now,
    after(ms, callback, options) {
      if (options?.background === true) return () => undefined;
      pauses.push(ms);
      now += ms;
      let live = true;
      queueMicrotask(() => {
        if (live) callback();
      });
      return () => {
        live = false;
      };
    },
  };
}

/** Never fires a timer, so only an abort ends a pause. `waiting` counts open timers, without those that only watch. */
export function stoppedClock(): Clock & { waiting(): number } {
  let open = 0;
  return {
    now: () => 0,
    monotonic: () => 0,
    waiting: () => open,
    after(_ms, _callback, options) {
      if (options?.background === true) return () => undefined;
      open += 1;
      let live = true;
      return () => {
        if (live) open -= 1;
        live = false;
      };
    },
  };
}

export const allTools = [
  "Read",
  "LS",
  "Execute",
  "Edit",
  "Grep",
  "Glob",
  "Create",
  "ExitSpecMode",
  "AskUser",
  "TodoWrite",
];

export function toolSpecs(names: readonly string[]): readonly ToolSpec[] {
  return names.map((name) => ({ name, description: `The ${name} tool.`, inputSchema: async () => ({}) }));
}

export function requestOf(messages: readonly Message[], options: Partial<ModelRequest> = {}): ModelRequest {
  const usual = {
    system: "You are Tinman.",
    mark: "m4rk",
    tools: toolSpecs(allTools),
    reasoningEffort: "none",
    mode: "auto",
  } as const;
  return { ...usual, messages, ...options };
}

let messageCount = 0;

export function userMessage(text: string, reminders: readonly string[] = []): Message {
  messageCount += 1;
  const before = reminders.map((reminder) => ({ type: "reminder", text: reminder }) as const);
  const content = [...before, { type: "text", text } as const];
  return { id: `m${messageCount}`, role: "user", createdAt: messageCount, content };
}

export function assistantMessage(
  content: readonly ReplyBlock[],
  stop: AssistantMessage["stop"] = "end",
): AssistantMessage {
  messageCount += 1;
  return { id: `m${messageCount}`, role: "assistant", createdAt: messageCount, content, stop, model: "test" };
}

export function toolMessage(results: readonly ToolResultBlock[]): Message {
  messageCount += 1;
  return { id: `m${messageCount}`, role: "tool", createdAt: messageCount, content: results };
}

export async function collect(
  model: ModelPort,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

export interface ToolAnswer {
  readonly status?: ToolStatus;
  readonly text: string;
  readonly cause?: ToolCause;
}

export interface TurnOptions {
  /** Results by tool name: one for all calls, or one per call in order. */
  readonly results?: Readonly<Record<string, string | ToolAnswer | readonly (string | ToolAnswer)[]>>;
  readonly reminders?: readonly string[];
  readonly tools?: readonly string[];
  /** Spec mode lasts until ExitSpecMode succeeds. */
  readonly spec?: boolean;
}

export interface TurnSeen {
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  /** The text of the last reply. */
  readonly text: string;
  readonly chunks: number;
  readonly usage: Usage | undefined;
  readonly error: (ModelEvent & { type: "error" }) | undefined;
}

/** A conversation that answers the model's calls with the given results until the model stops. */
export function createChat(model: ModelPort): {
  say(prompt: string, options?: TurnOptions): Promise<TurnSeen>;
  readonly messages: Message[];
} {
  const messages: Message[] = [];

  async function say(prompt: string, options: TurnOptions = {}): Promise<TurnSeen> {
    messages.push(userMessage(prompt, options.reminders));
    const calls: { name: string; input: unknown }[] = [];
    let spec = options.spec === true;
    for (let round = 0; round < 30; round += 1) {
      const mode = spec ? "spec" : "auto";
      const request = requestOf(messages, { mode, tools: toolSpecs(options.tools ?? allTools) });
      const events = await collect(model, request);
      const { message, usage } = messageFrom(events);
      if (message.content.length > 0) messages.push(message);
      const wanted = message.content.filter((block) => block.type === "tool_call");
      const last = events.at(-1);
      const error = last?.type === "error" ? last : undefined;
      if (wanted.length === 0 || error !== undefined) {
        const texts = events.filter((event) => event.type === "text");
        return { calls, text: texts.map((event) => event.text).join(""), chunks: texts.length, usage, error };
      }
      const results = wanted.map((call): ToolResultBlock => {
        const nth = calls.filter((earlier) => earlier.name === call.name).length;
        calls.push({ name: call.name, input: call.input });
        const given = options.results?.[call.name] ?? "done";
        const chosen = Array.isArray(given) ? given[nth] : given;
        const answer: ToolAnswer = typeof chosen === "string" ? { text: chosen } : (chosen ?? { text: "done" });
        if (call.name === "ExitSpecMode" && (answer.status ?? "ok") === "ok") spec = false;
        return {
          type: "tool_result",
          callId: call.id,
          name: call.name,
          status: answer.status ?? "ok",
          text: answer.text,
          ...(answer.cause === undefined ? {} : { cause: answer.cause }),
        };
      });
      messages.push(toolMessage(results));
    }
    throw new Error(`no end after 30 replies to: ${prompt}`);
  }

  return { say, messages };
}

function messageFrom(events: readonly ModelEvent[]): { message: AssistantMessage; usage: Usage | undefined } {
  const content: ReplyBlock[] = [];
  let usage: Usage | undefined;
  let stop: AssistantMessage["stop"] = "interrupted";
  for (const event of events) {
    if (event.type === "text" || event.type === "thinking") {
      const last = content.at(-1);
      if (last?.type === event.type) content[content.length - 1] = { ...last, text: last.text + event.text };
      else if (event.text !== "") content.push({ type: event.type, text: event.text });
    } else if (event.type === "tool_call") {
      content.push({
        type: "tool_call",
        id: event.id,
        name: event.name,
        input: JSON.parse(event.inputText) as unknown,
      });
    } else if (event.type === "usage") usage = event.usage;
    else if (event.type === "end") stop = event.stop;
    else if (event.type === "error") stop = "failed";
  }
  return { message: assistantMessage(content, stop), usage };
}

/** Made-up words, numbers and file names, deterministic per seed. */
export interface Invented {
  word(): string;
  secret(): string;
  file(): string;
  folder(): string;
  han(): string;
}

export function invent(seed: number): Invented {
  let state = seed >>> 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const one = <T>(list: ArrayLike<T>): T => list[Math.floor(random() * list.length)] as T;
  const syllable = (): string => one("bdfgklmnprtvz") + one("aeiou");
  const word = (): string =>
    one(["", "", "a", "an", "o", "the", "as"]) + syllable() + syllable() + syllable() + one("nrxk");
  const han = (): string => one("橙柿桃梨杏枣莲竹松鹤") + one("山河湖雪云月星石木火");
  return {
    word,
    han,
    secret: () => `${word().toUpperCase()}-${1000 + Math.floor(random() * 9000)}`,
    file: () => `${word()}.${one(["txt", "md", "json", "ts", "py", "yaml", "csv"])}`,
    folder: () => word(),
  };
}

/** The last text of a turn whose calls all get an empty result. Earlier prompts were answered with "Done.". */
export async function wholeTurn(model: ModelPort, prompt: string, earlier: readonly string[] = []) {
  const before = earlier.flatMap((text) => [userMessage(text), assistantMessage([{ type: "text", text: "Done." }])]);
  const messages: Message[] = [...before, userMessage(prompt)];
  for (;;) {
    const events = await collect(model, requestOf(messages));
    const text = events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("");
    const call = events.find((event) => event.type === "tool_call");
    const end = events.at(-1);
    if (call === undefined) return { text, understood: end?.type === "end" && end.understood !== false };
    const { id, name, inputText } = call;
    messages.push(
      assistantMessage([{ type: "tool_call", id, name, input: JSON.parse(inputText) }], "tool_calls"),
      toolMessage([{ type: "tool_result", callId: id, name, status: "ok", text: "" }]),
    );
  }
}
