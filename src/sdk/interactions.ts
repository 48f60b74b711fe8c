import { errorMessage, type Fields, fieldsOf, isRecord, listOf, numberOf, textOf, textsOf } from "../text/values.ts";
import type { Handlers, PermissionAnswer, PermissionRequest, QuestionAnswer } from "./api.ts";
import type { PermissionCall, PermissionOption, Question } from "./types.ts";
import { callOf, given, jsonOf, type RequestId } from "./wire.ts";

interface Parts {
  readonly handlers: Handlers;
  answer(id: RequestId, result: object): void;
  refuse(id: RequestId, method: string): void;
  /** A call was refused. */
  refused(): void;
  /** Whether the asking turn was stopped or abandoned. */
  isUnwanted(): boolean;
  warning(words: string): void;
}

interface Asked {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Fields;
}

interface Open {
  readonly controller: AbortController;
  /** Distinguishes requests with the same id. Undefined if it cannot be serialized. */
  readonly text: string | undefined;
  /** Answers with no. */
  cancel(): void;
}

const permissionMethod = "droid.request_permission";
const questionMethod = "droid.ask_user";
const cancel = "cancel";
/** Limit for open requests. */
const mostOpen = 64;
/** Limit for calls in one request. */
export const mostCalls = 1_000;

/** Required fields by kind. Unknown kinds are passed on unchanged. */
const required: Readonly<Record<string, readonly string[]>> = {
  exec: ["fullCommand"],
  create: ["filePath", "content"],
  edit: ["filePath"],
  apply_patch: ["filePath", "patchContent"],
  exit_spec_mode: ["plan"],
  mcp_tool: ["toolName"],
  sandbox_violation: ["violatingToolName", "target", "reason"],
};

export type Interactions = ReturnType<typeof createInteractions>;

/** The backend's requests and the handlers' answers. Without a handler's yes, the answer is no. */
export function createInteractions(parts: Parts) {
  const { handlers, warning } = parts;
  const open = new Map<RequestId, Open>();
  const missing = new Set<string>();

  /** Warns once that every request will be cancelled. */
  function warnMissing(handler: "onPermission" | "onQuestion"): void {
    if (missing.has(handler) || parts.isUnwanted()) return;
    missing.add(handler);
    warning(`${handler} is missing, so the backend's requests are answered with cancel.`);
  }

  /** Asks the handler, if any. A handler that fails, or returns something unreadable, gives no answer. */
  async function ask<T>(
    { id, method, params }: Asked,
    handler: ((signal: AbortSignal) => T | Promise<T>) | undefined,
    replyTo: (answer: T | undefined, isGiven: boolean) => object,
  ) {
    const controller = new AbortController();
    const sayNo = (): void => parts.answer(id, replyTo(undefined, false));
    if (open.size >= mostOpen) warning(`More than ${mostOpen} requests are open; declined another one.`);
    if (handler === undefined || parts.isUnwanted() || open.size >= mostOpen) return sayNo();
    const own: Open = { controller, text: textOfRequest(method, params), cancel: sayNo };
    const isClosed = (): boolean => open.get(id) !== own;
    open.set(id, own);
    let reply: object | undefined;
    try {
      const answer = await handler(controller.signal);
      if (isClosed()) return;
      reply = replyTo(answer, true);
    } catch (error) {
      warning(`The handler of a request failed: ${errorMessage(error)}`);
    }
    if (isClosed()) return;
    open.delete(id);
    if (reply === undefined) sayNo();
    else parts.answer(id, reply);
  }

  function askPermission(asked: Asked): void {
    const { id, params } = asked;
    const asks = listOf(params.toolUses);
    const calls = asks.length > mostCalls ? [] : asks.map(permissionCallOf);
    const options = listOf(params.options).flatMap(optionOf);
    const isComplete = calls.length > 0 && calls.every((call) => call !== undefined);
    if (!isComplete) warning("Answered a malformed permission request with cancel.");
    const request = { id: String(id), calls: calls.filter((call) => call !== undefined), options };
    const handler = isComplete ? handlerFor(request) : undefined;
    if (isComplete && handler === undefined) warnMissing("onPermission");
    void ask<PermissionAnswer>(asked, handler, (answer, isGiven) => {
      const { option, comment } =
        typeof answer === "string" ? { option: answer, comment: undefined } : fieldsOf(answer);
      const isOffered = options.some(({ value }) => value === option);
      if (isGiven && option !== cancel && !isOffered) {
        const fault =
          typeof option === "string" ? `chose ${JSON.stringify(option)}, which was not offered` : "named no option";
        warning(`The handler ${fault}; answered with cancel.`);
      }
      const selectedOption = isOffered ? option : cancel;
      if (selectedOption === cancel) parts.refused();
      return given({ selectedOption, comment: textOf(comment) });
    });
  }

  function handlerFor(request: Omit<PermissionRequest, "signal">) {
    const { onPlan, onPermission } = handlers;
    const [details] = request.calls.map((call) => call.details);
    const [call] = request.calls;
    // Only a single plan: approving it must not allow another call.
    const isPlan = request.calls.length === 1 && call?.name === "ExitSpecMode" && details?.type === "exit_spec_mode";
    if (onPlan !== undefined && isPlan && call.input.plan === details.plan) {
      const { plan, title, optionNames: alternatives = [] } = details;
      const { id, options } = request;
      return (signal: AbortSignal) =>
        onPlan({ id, plan, alternatives, options, signal, ...(title !== undefined && { title }) });
    }
    return onPermission && ((signal: AbortSignal) => onPermission({ ...request, signal }));
  }

  function askUser(asked: Asked): void {
    const id = String(asked.id);
    const questions = listOf(asked.params.questions).map(questionOf);
    const { onQuestion } = handlers;
    const handler = onQuestion && ((signal: AbortSignal) => onQuestion({ id, questions, signal }));
    if (handler === undefined) warnMissing("onQuestion");
    void ask<QuestionAnswer>(asked, questions.length === 0 ? undefined : handler, (answer) => {
      const isWhole = Array.isArray(answer) && answer.length === questions.length && answer.every(isAnswer);
      if (answer !== undefined && !isWhole) {
        warning(
          `The handler must return ${questions.length} answers, each a string or a list of strings; answered as cancelled.`,
        );
      }
      const answers = (isWhole ? answer : []).map((one, nth) => ({
        index: questions[nth]?.index ?? nth + 1,
        question: questions[nth]?.question ?? "",
        answer: typeof one === "string" ? one : textsOf(one).join(", "),
      }));
      return { cancelled: !isWhole, answers };
    });
  }

  function closeOne(id: RequestId): Open | undefined {
    const one = open.get(id);
    open.delete(id);
    one?.controller.abort(new Error("The request was closed."));
    return one;
  }

  return {
    /** Every request is answered, unless it is closed first. */
    take(id: RequestId, method: string, params: Fields) {
      const before = open.get(id);
      if (before !== undefined) {
        if (before.text !== undefined && before.text === textOfRequest(method, params)) return;
        warning("The backend reused the id of an open request; declined both.");
        closeOne(id)?.cancel();
        return;
      }
      if (method === permissionMethod) askPermission({ id, method, params });
      else if (method === questionMethod) askUser({ id, method, params });
      else parts.refuse(id, method);
    },
    /** Declines without asking. */
    deny(id: RequestId, method: string) {
      if (method === permissionMethod) parts.answer(id, { selectedOption: cancel });
      else if (method === questionMethod) parts.answer(id, { cancelled: true, answers: [] });
      else parts.refuse(id, method);
    },
    /** It was answered elsewhere. Some backends send a numeric id, then echo it as a string. */
    closeOne: (id: RequestId) => void (open.has(id) ? closeOne(id) : closeOne(Number(id))),
    /** The turn was abandoned or has ended, so no answer is needed. */
    closeAll() {
      for (const id of [...open.keys()]) closeOne(id);
    },
    /** Whether the backend waits for an answer. */
    get isAsked(): boolean {
      return open.size > 0;
    },
  };
}

function permissionCallOf(value: unknown): PermissionCall | undefined {
  const { toolUse, confirmationType, details: found } = fieldsOf(value);
  const call = callOf(toolUse);
  const { input } = fieldsOf(toolUse);
  // A call that cannot be shown must not be allowed.
  if (call === undefined || (input !== undefined && !isRecord(input))) return undefined;
  const name = textOf(fieldsOf(found).type) ?? textOf(confirmationType) ?? "";
  const isCommand = name === "exec" || name === "sandbox_violation";
  const details = isCommand ? wholeCommand(fieldsOf(found), fieldsOf(input)) : fieldsOf(found);
  const isKnown = Object.hasOwn(required, name) && required[name]?.every((key) => typeof details[key] === "string");
  const known = { ...details, type: name } as unknown as PermissionCall["details"];
  return { ...call, details: isKnown ? known : { type: "other", name, given: found } };
}

/** Approvers see the whole command, even if the backend shortens it or leaves it to the input. */
function wholeCommand(details: Fields, { command: called }: Fields): Fields {
  const shown = textOf(details.fullCommand);
  const isCut = typeof called === "string" && (shown === undefined || isStartOf(shown, called));
  const fullCommand = isCut ? called : shown;
  return fullCommand === undefined ? details : { ...details, fullCommand, command: fullCommand };
}

function isStartOf(shown: string, whole: string): boolean {
  return whole.startsWith(shown.replace(/(?:…|\.\.\.)$/, ""));
}

function textOfRequest(method: string, params: Fields): string | undefined {
  const text = jsonOf(params);
  return text && `${method} ${text}`;
}

function isAnswer(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"));
}

function optionOf(value: unknown): readonly PermissionOption[] {
  const { value: option, label } = fieldsOf(value);
  return typeof option === "string" ? [{ value: option, label: textOf(label) ?? option }] : [];
}

function questionOf(value: unknown, nth: number): Question {
  const { index, topic, question, options, multiSelect } = fieldsOf(value);
  return {
    index: numberOf(index) ?? nth + 1,
    topic: textOf(topic) ?? "",
    question: textOf(question) ?? "",
    options: textsOf(options),
    ...(multiSelect === true && { multiSelect }),
  };
}
