import type { Handlers, PermissionAnswer, PermissionRequest, QuestionAnswer } from "./api.ts";
import { markOf } from "./mark.ts";
import type { PermissionCall, PermissionOption, Question } from "./types.ts";
import { callOf, type Given, given, isRecord, listOf, numberOf, recordOf, textOf, textsOf } from "./wire.ts";

/** What a backend asks, and the answer of whoever may give one. Never a yes that nobody said. */
export interface Interactions {
  /** Answers in the end, unless the request is closed before. */
  take(id: string, method: string, params: Given): void;
  /** It was answered elsewhere. */
  closeOne(id: string): void;
  /** Nobody wants the turn that asked any more, or it has ended: no answer is of use. */
  closeAll(): void;
  /** Whether the backend waits for an answer. */
  readonly isAsked: boolean;
}

interface Parts {
  readonly handlers: Handlers;
  answer(id: string, result: object): void;
  refuse(id: string, method: string): void;
  /** A no was given for a call. */
  refused(): void;
  /** Whether nobody wants the turn any more that asks. */
  isUnwanted(): boolean;
  warning(words: string): void;
}

interface Open {
  readonly controller: AbortController;
  /** To know another question under the same id. */
  readonly mark: string;
  /** Gives the answer of one who gives none. */
  cancel(): void;
}

const cancel = "cancel";
/** More than anybody can be asked at once. */
const mostOpen = 64;

/** What each kind must have; other kinds are passed on as they came. */
const required: Readonly<Record<string, readonly string[]>> = {
  exec: ["fullCommand"],
  create: ["filePath", "content"],
  edit: ["filePath"],
  apply_patch: ["filePath", "patchContent"],
  exit_spec_mode: ["plan"],
  mcp_tool: ["toolName"],
};

export function createInteractions(parts: Parts): Interactions {
  const { handlers, warning } = parts;
  const open = new Map<string, Open>();

  /** Asks a handler, if there is one; one that fails has given no answer. */
  async function ask<T>(
    id: string,
    mark: string,
    handler: ((signal: AbortSignal) => T | Promise<T>) | undefined,
    send: (answer: T | undefined, isGiven: boolean) => void,
  ) {
    const controller = new AbortController();
    if (open.size >= mostOpen) warning(`More than ${mostOpen} requests are open; one more was answered with no.`);
    if (handler === undefined || parts.isUnwanted() || open.size >= mostOpen) return send(undefined, false);
    const own: Open = { controller, mark, cancel: () => send(undefined, false) };
    open.set(id, own);
    let answer: T | undefined;
    let isGiven = false;
    try {
      answer = await handler(controller.signal);
      isGiven = true;
    } catch (error) {
      warning(`The handler of a request failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (open.get(id) !== own) return;
    open.delete(id);
    send(answer, isGiven);
  }

  function askPermission(id: string, mark: string, params: Given): void {
    const calls = listOf(params.toolUses).map(permissionCallOf);
    const options = listOf(params.options).flatMap(optionOf);
    const isComplete = calls.length > 0 && calls.every((call) => call !== undefined);
    if (!isComplete) warning("A permission request that cannot be read was answered with cancel.");
    const request = { id, calls: calls.filter((call) => call !== undefined), options };
    const handler = isComplete ? handlerFor(request) : undefined;
    void ask<PermissionAnswer>(id, mark, handler, (answer, isGiven) => {
      const { option, comment } =
        typeof answer === "string" ? { option: answer, comment: undefined } : recordOf(answer);
      const isOffered = options.some(({ value }) => value === option);
      if (isGiven && option !== cancel && !isOffered) {
        const chosen = option === undefined ? "nothing that can be read" : JSON.stringify(option);
        warning(`The handler chose ${chosen}, which was not offered; answered with cancel.`);
      }
      const selectedOption = isOffered ? option : cancel;
      if (selectedOption === cancel) parts.refused();
      parts.answer(id, given({ selectedOption, comment: textOf(comment) }));
    });
  }

  function handlerFor(request: Omit<PermissionRequest, "signal">) {
    const { onPlan, onPermission } = handlers;
    const [details] = request.calls.map((call) => call.details);
    const [call] = request.calls;
    // Only what is nothing but a plan: whoever approves one is shown no command.
    const isPlan = request.calls.length === 1 && call?.name === "ExitSpecMode" && details?.type === "exit_spec_mode";
    if (onPlan !== undefined && isPlan && call.input.plan === details.plan) {
      const { plan, title, optionNames: alternatives = [] } = details;
      const { id, options } = request;
      return (signal: AbortSignal) =>
        onPlan({ id, plan, alternatives, options, signal, ...(title !== undefined && { title }) });
    }
    return onPermission && ((signal: AbortSignal) => onPermission({ ...request, signal }));
  }

  function askUser(id: string, mark: string, params: Given): void {
    const questions = listOf(params.questions).map(questionOf);
    const { onQuestion } = handlers;
    const handler = onQuestion && ((signal: AbortSignal) => onQuestion({ id, questions, signal }));
    void ask<QuestionAnswer>(id, mark, questions.length === 0 ? undefined : handler, (answer) => {
      const isWhole = Array.isArray(answer) && answer.length === questions.length && answer.every(isAnswer);
      if (answer !== undefined && !isWhole) {
        warning(`The handler must give ${questions.length} answers, each text or texts; answered as cancelled.`);
      }
      const answers = (isWhole ? answer : []).map((one, nth) => ({
        index: questions[nth]?.index ?? nth + 1,
        question: questions[nth]?.question ?? "",
        answer: typeof one === "string" ? one : textsOf(one).join(", "),
      }));
      parts.answer(id, { cancelled: !isWhole, answers });
    });
  }

  function closeOne(id: string): Open | undefined {
    const one = open.get(id);
    open.delete(id);
    one?.controller.abort(new Error("The request was closed."));
    return one;
  }

  return {
    take(id, method, params) {
      const mark = markOf(`${method} ${textOfParams(params)}`);
      const before = open.get(id)?.mark;
      if (before === mark) return;
      if (before !== undefined) {
        warning("The backend asked something else under the id of an open request; both were answered with no.");
        closeOne(id)?.cancel();
        return;
      }
      if (method === "droid.request_permission") askPermission(id, mark, params);
      else if (method === "droid.ask_user") askUser(id, mark, params);
      else parts.refuse(id, method);
    },
    closeOne: (id) => void closeOne(id),
    closeAll() {
      for (const id of [...open.keys()]) closeOne(id);
    },
    get isAsked() {
      return open.size > 0;
    },
  };
}

function permissionCallOf(value: unknown): PermissionCall | undefined {
  const { toolUse, confirmationType, details: found } = recordOf(value);
  const call = callOf(toolUse);
  const { input } = recordOf(toolUse);
  // What cannot be shown must not be allowed.
  if (call === undefined || (input !== undefined && !isRecord(input))) return undefined;
  const details = recordOf(found);
  const name = textOf(details.type) ?? textOf(confirmationType) ?? "";
  const isKnown = Object.hasOwn(required, name) && required[name]?.every((key) => typeof details[key] === "string");
  const known = { ...details, type: name } as unknown as PermissionCall["details"];
  return { ...call, details: isKnown ? known : { type: "other", name, given: found } };
}

function textOfParams(params: Given): string {
  try {
    return JSON.stringify(params);
  } catch {
    // Nested too deeply to be written as text, and so to be compared.
    return "";
  }
}

function isAnswer(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"));
}

function optionOf(value: unknown): readonly PermissionOption[] {
  const { value: option, label } = recordOf(value);
  return typeof option === "string" ? [{ value: option, label: textOf(label) ?? option }] : [];
}

function questionOf(value: unknown, nth: number): Question {
  const { index, topic, question, options, multiSelect } = recordOf(value);
  return {
    index: numberOf(index) ?? nth + 1,
    topic: textOf(topic) ?? "",
    question: textOf(question) ?? "",
    options: textsOf(options),
    ...(multiSelect === true && { multiSelect }),
  };
}
