import { isDeepStrictEqual } from "node:util";
import type { Notice, Received } from "../fakes/rpc/wire.ts";
import { isDuration } from "./normalise.ts";
import type { Run } from "./trace.ts";
import { clientMessages } from "./trace.ts";

/*
 * Rules for lines that only we send: a reason allows them, and these rules say where they belong and what they contain.
 * They read our lines, and from the trace only the client's actions and the model's answers.
 */

interface Place {
  readonly message: Received;
  readonly notice: Notice | undefined;
  readonly before: Received | undefined;
  readonly after: Received | undefined;
  /** All later lines. */
  readonly rest: readonly Received[];
}

/** Gets every line of a process in order, and returns its faults. */
type Rule = (place: Place) => readonly string[];

/** Faults in the lines of one process, whether the trace has the same or not. */
export function ownLineFaults(run: Run, received: readonly Received[]): readonly string[] {
  const rules = [
    turnEnds(run),
    tokens(),
    wholeBlocks(),
    sumOfDeltas(),
    retries(),
    progress(),
    thoughts,
    errors,
    askedCalls,
    connections(run),
    models,
  ];
  return received.flatMap((message, index) => {
    const place = {
      message,
      notice: message.params?.notification,
      before: received[index - 1],
      after: received[index + 1],
      rest: received.slice(index + 1),
    };
    return rules.flatMap((rule) => rule(place)).map((fault) => `${fault}\n    ${JSON.stringify(message)}`);
  });
}

const fault = (holds: boolean, text: string): readonly string[] => (holds ? [] : [text]);
const typeOf = (message: Received | undefined): string | undefined => message?.params?.notification?.type;
const isIdle = (notice: Notice | undefined): boolean =>
  notice?.type === "droid_working_state_changed" && notice.newState === "idle";

/** `agent_turn_completed` and `idle` come together, one pair per turn, and the former summarises the turn. */
function turnEnds(run: Run): Rule {
  const messageIds = new Map(clientMessages(run.steps).map(({ id, params }) => [id, params?.messageId]));
  const reasons = endsOf(run);
  let turn: { readonly request: string; readonly id: unknown } | undefined;
  let [input, output] = [0, 0];
  let total: unknown;
  return ({ notice, before, after }) => {
    if (notice?.type === "create_message" && typeof notice.requestId === "string") {
      const { id } = notice.message as { id: string };
      turn ??= { request: notice.requestId, id: messageIds.get(notice.requestId) ?? id };
    }
    if (notice?.type === "session_token_usage_changed") {
      const { inputTokens = 0, outputTokens = 0 } = (notice.lastCallTokenUsage ?? {}) as Partial<Tokens>;
      [input, output, total] = [input + inputTokens, output + outputTokens, notice.tokenUsage];
    }
    if (isIdle(notice)) {
      [turn, input, output] = [undefined, 0, 0];
      const isOver = ["agent_turn_completed", "session_compacted"].includes(String(typeOf(before)));
      return fault(isOver, "idle without the end of the turn");
    }
    if (notice?.type !== "agent_turn_completed") return [];
    const { durationMs } = notice;
    const expected = {
      type: notice.type,
      reason: reasons.get(turn?.request) ?? "completed",
      turnId: turn?.id,
      tokenUsage: {
        inputTokens: input,
        outputTokens: output,
        cacheCreationTokens: 0,
        cacheReadTokens: 0,
        thinkingTokens: 0,
      },
      cumulativeTokenUsage: total,
      durationMs,
    };
    return [
      ...fault(isIdle(after?.params?.notification), "the end of a turn is not followed by idle"),
      ...fault(isDuration(durationMs), "the turn's duration is impossible"),
      ...fault(isDeepStrictEqual(notice, expected), `the turn's end is ${JSON.stringify(expected)}`),
    ];
  };
}

/** Requests with prompts -> how their turns ended in the trace, if not normally. */
function endsOf({ steps }: Run): ReadonlyMap<string | undefined, string> {
  const ends = new Map<string | undefined, string>();
  let turn: string | undefined;
  for (const step of steps) {
    if (step.by === "client" && turn !== undefined) {
      for (const { method, result } of clientMessages([step])) {
        if (method === "droid.interrupt_session") ends.set(turn, "cancelled");
        if (result?.selectedOption === "cancel") ends.set(turn, "permission_rejected");
      }
    }
    const notice = step.by === "server" ? step.message.params?.notification : undefined;
    if (notice?.type === "create_message" && typeof notice.requestId === "string") turn ??= notice.requestId;
    // The only one in the traces is a 401.
    if (notice?.type === "error") ends.set(turn, "model_authentication_failed");
    if (isIdle(notice)) turn = undefined;
  }
  return ends;
}

interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Sent within a turn; a session's tokens grow by those of the last call, and the traces' model counts ten to one. */
function tokens(): Rule {
  const known = new Map<unknown, Tokens>();
  let isOver = true;
  return ({ notice }) => {
    if (notice?.type === "droid_working_state_changed") isOver = isIdle(notice);
    if (notice?.type !== "session_token_usage_changed") return [];
    const total = notice.tokenUsage as Tokens;
    const last = (notice.lastCallTokenUsage ?? { inputTokens: 0, outputTokens: 0 }) as Tokens;
    const before = known.get(notice.sessionId);
    known.set(notice.sessionId, total);
    const grows = (key: keyof Tokens): boolean => before === undefined || total[key] === before[key] + last[key];
    return [
      ...fault(!isOver, "tokens are reported outside a turn"),
      ...fault(last.inputTokens === 10 * last.outputTokens, "the model counted other tokens"),
      ...fault(grows("inputTokens") && grows("outputTokens"), `tokens were ${JSON.stringify(before)}`),
    ];
  };
}

/** A block ends once, after its last delta and before anything else of the reply. */
function wholeBlocks(): Rule {
  let open: string | undefined;
  return ({ notice }) => {
    const [, kind, step] = /^(assistant|thinking)_text_(delta|complete)$/.exec(notice?.type ?? "") ?? [];
    const block = JSON.stringify([kind, notice?.messageId, notice?.blockIndex]);
    if (step === "complete") {
      const expected = open;
      open = undefined;
      return [
        ...fault(block === expected, `the open block is ${expected}`),
        ...fault(kind === "assistant" || isDuration(notice?.durationMs), "the block's duration is impossible"),
      ];
    }
    const isElsewhere =
      step === "delta" ? block !== open : ["tool_call", "create_message"].includes(notice?.type ?? "");
    const isWhole = open === undefined || !(isElsewhere || isIdle(notice)) || isPrompt(notice);
    const text = `the block ${open} has no completion`;
    if (step === "delta") open = block;
    return fault(isWhole, text);
  };
}

/** Joined deltas equal the message. */
function sumOfDeltas(): Rule {
  const texts = new Map<string, string>();
  return ({ notice }) => {
    if (notice?.type === "assistant_text_delta" || notice?.type === "thinking_text_delta") {
      const block = `${notice.messageId} ${notice.blockIndex}`;
      texts.set(block, `${texts.get(block) ?? ""}${notice.textDelta}`);
    }
    if (notice?.type !== "create_message" || isPrompt(notice)) return [];
    const { id, content } = notice.message as Content & { readonly id: string };
    return content.flatMap(({ text, thinking }, index) => {
      const sum = texts.get(`${id} ${index}`);
      return fault(sum === (text ?? thinking), `the deltas of block ${index} are ${JSON.stringify(sum)}`);
    });
  };
}

const isPrompt = (notice: Notice | undefined): boolean =>
  notice?.type === "create_message" && (notice.message as { role: string }).role === "user";

/** Attempts count from 1 per model call, with the reason that the prompt's script gives. */
function retries(): Rule {
  let [attempts, prompt] = [0, ""];
  return ({ notice }) => {
    if (notice?.type === "create_message") attempts = 0;
    if (isPrompt(notice)) prompt = JSON.stringify(notice);
    if (notice?.type !== "llm_retry") return [];
    attempts += 1;
    const reason = prompt.includes("cut") ? "network" : prompt.includes("http") ? "unknown" : "empty_response";
    const expected = { type: "llm_retry", attempt: attempts, reason };
    return fault(isDeepStrictEqual(notice, expected), `the retry is ${JSON.stringify(expected)}`);
  };
}

/** Progress belongs between a call and its result, names the call's tool, and is part of the output. */
function progress(): Rule {
  const running = new Map<unknown, string>();
  return ({ notice, rest }) => {
    if (notice?.type === "tool_result") running.delete(notice.toolUseId);
    if (notice?.type === "tool_call") {
      const { id, name } = notice.toolUse as { id: string; name: string };
      running.set(id, name);
    }
    if (notice?.type !== "tool_progress_update") return [];
    const { text } = notice.update as { text: string };
    const end = rest.find((line) => typeOf(line) === "tool_result" && toolUseId(line) === notice.toolUseId);
    const result = String(end?.params?.notification?.content);
    const isPart =
      result.startsWith("Error: Tool execution cancelled") || text.split("\n").every((line) => result.includes(line));
    const name = running.get(notice.toolUseId);
    return [
      ...fault(name !== undefined && name === notice.toolName, `the running tool is ${name}`),
      ...fault(end !== undefined && text !== "" && isPart, `the result is ${JSON.stringify(result)}`),
    ];
  };
}

const toolUseId = ({ params }: Received): unknown => params?.notification?.toolUseId;

/** The traces' model signs nothing. */
const thoughts: Rule = ({ message, notice }) => {
  const { messages = [] } = (message.result?.session ?? {}) as { messages?: readonly Content[] };
  const told = notice?.type === "create_message" ? [notice.message as Content] : [];
  const blocks = [...messages, ...told].flatMap(({ content }) => content).filter(({ type }) => type === "thinking");
  const isUnsigned = blocks.every(({ thinking, ...more }) => {
    return typeof thinking === "string" && isDeepStrictEqual(more, { type: "thinking", signature: "" });
  });
  return fault(isUnsigned, "it has an unexpected signature");
};

interface Content {
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

/** An error has a message, the same in both places, and ends its turn. */
const errors: Rule = ({ notice, after }) => {
  if (notice?.type !== "error") return [];
  const { message } = notice.error as { message: string };
  return [
    ...fault(message !== "" && message === notice.message, "the error has no message, or two different ones"),
    ...fault(typeOf(after) === "agent_turn_completed", "the error does not end its turn"),
  ];
};

/** The reason of a permission request names what would run or be fetched. */
const askedCalls: Rule = ({ message }) => {
  const { toolUses = [] } = (message.type === "request" ? message.params : {}) as { toolUses?: readonly Asked[] };
  return toolUses.flatMap(({ toolUse, details }) => {
    if (details.type === "mcp_tool") return [];
    if (details.type !== "exec") return fault(details.riskLevelReason === undefined, "an unexpected reason");
    const { command, url } = toolUse.input;
    const start = command === undefined ? `fetches ${url}.` : `runs ${JSON.stringify(command)}: it `;
    const isNamed = details.riskLevelReason?.startsWith(`${toolUse.name} ${start}`) === true;
    return fault(isNamed && /[a-z0-9/]\.$/.test(details.riskLevelReason ?? ""), "the reason does not name the call");
  });
};

interface Asked {
  readonly toolUse: { readonly name: string; readonly input: { readonly command?: string; readonly url?: string } };
  readonly details: { readonly type: string; readonly riskLevelReason?: string };
}

/** Without servers, `mcp_status_changed` comes right before the response that opens or loads a session, and nowhere else. */
function connections(run: Run): Rule {
  const methods = new Map<unknown, unknown>(clientMessages(run.steps).map(({ id, method }) => [id, method]));
  let hasSession = false;
  return ({ message, notice, before, after }) => {
    if (notice?.type === "mcp_status_changed") {
      if (Array.isArray(notice.servers) && notice.servers.length > 0) return [];
      return fault(after?.result?.availableModels !== undefined, "it is not followed by the response");
    }
    const method = message.result === undefined ? undefined : methods.get(message.id);
    // A session that is already open is not opened again.
    const opens = method === "droid.initialize_session" || (method === "droid.load_session" && !hasSession);
    if (!opens) return [];
    hasSession = true;
    return fault(typeOf(before) === "mcp_status_changed", "mcp_status_changed does not come before it");
  };
}

const common = { modelProvider: "generic-chat-completion-api", supportedReasoningEfforts: ["none"] };
const usual = { ...common, defaultReasoningEffort: "none", deprecated: false, tokenMultiplier: 1, isCustom: false };
const named = (id: string, name: string) => ({ id, modelId: id, displayName: name, shortDisplayName: name, ...usual });
/** The configured one, and the built-in one. */
const ownModels = [
  { ...named("custom:Fake-0", "Fake"), noImageSupport: false, supportsPDFs: true },
  { ...named("offline", "Tinman offline"), noImageSupport: true, supportsPDFs: false },
];

const models: Rule = ({ message: { result } }) => {
  const told = result?.availableModels;
  return fault(told === undefined || isDeepStrictEqual(told, ownModels), "these are not the models");
};
