import type { Handlers, PermissionAnswer, PermissionRequest, QuestionAnswer } from "./api.ts";
import type { PermissionCall, PermissionOption, Question } from "./types.ts";
import { callOf, type Given, given, listOf, numberOf, recordOf, textOf, textsOf } from "./wire.ts";

/** What a backend asks, and the answer of whoever may give one. Never a yes that nobody said. */
export interface Interactions {
  /** Answers in the end, unless the request is closed before. */
  take(id: string, method: string, params: Given): void;
  /** It was answered elsewhere. */
  closeOne(id: string): void;
  /** The turn that asked has ended. */
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
  warning(words: string): void;
}

const cancel = "cancel";

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
  const open = new Map<string, AbortController>();

  /** Asks a handler, if there is one; one that fails has given no answer. */
  async function ask<T>(
    id: string,
    handler: ((signal: AbortSignal) => T | Promise<T>) | undefined,
    send: (answer: T | undefined) => void,
  ) {
    const controller = new AbortController();
    open.set(id, controller);
    let answer: T | undefined;
    try {
      answer = await handler?.(controller.signal);
    } catch (error) {
      warning(`The handler of a request failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (open.get(id) !== controller) return;
    open.delete(id);
    send(answer);
  }

  function askPermission(id: string, params: Given): void {
    const calls = listOf(params.toolUses).map(permissionCallOf);
    const options = listOf(params.options).flatMap(optionOf);
    const isComplete = calls.length > 0 && calls.every((call) => call !== undefined);
    if (!isComplete) warning("A permission request that cannot be read was answered with cancel.");
    const request = { id, calls: calls.filter((call) => call !== undefined), options };
    void ask<PermissionAnswer>(id, isComplete ? handlerFor(request) : undefined, (answer) => {
      const { option, comment } = typeof answer === "string" ? { option: answer } : { comment: undefined, ...answer };
      const isOffered = options.some(({ value }) => value === option);
      if (option !== undefined && option !== cancel && !isOffered) {
        warning(`The handler chose ${JSON.stringify(option)}, which was not offered; answered with cancel.`);
      }
      const selectedOption = isOffered ? option : cancel;
      if (selectedOption === cancel) parts.refused();
      parts.answer(id, given({ selectedOption, comment: textOf(comment) }));
    });
  }

  function handlerFor(request: Omit<PermissionRequest, "signal">) {
    const { onPlan, onPermission } = handlers;
    const [details] = request.calls.map((call) => call.details);
    if (onPlan !== undefined && request.calls.length === 1 && details?.type === "exit_spec_mode") {
      const { plan, title, optionNames: alternatives = [] } = details;
      const { id, options } = request;
      return (signal: AbortSignal) =>
        onPlan({ id, plan, alternatives, options, signal, ...(title !== undefined && { title }) });
    }
    return onPermission && ((signal: AbortSignal) => onPermission({ ...request, signal }));
  }

  function askUser(id: string, params: Given): void {
    const questions = listOf(params.questions).map(questionOf);
    const { onQuestion } = handlers;
    const handler = onQuestion && ((signal: AbortSignal) => onQuestion({ id, questions, signal }));
    void ask<QuestionAnswer>(id, questions.length === 0 ? undefined : handler, (answer) => {
      const isWhole = Array.isArray(answer) && answer.length === questions.length;
      if (answer !== undefined && !isWhole) {
        warning(
          `The handler gave ${listOf(answer).length} answers to ${questions.length} questions; answered as cancelled.`,
        );
      }
      const answers = (isWhole ? answer : []).map((one, nth) => ({
        index: questions[nth]?.index ?? nth + 1,
        question: questions[nth]?.question ?? "",
        answer: typeof one === "string" ? one : textsOf(one).join(", "),
      }));
      parts.answer(id, { cancelled: !isWhole, answers });
    });
  }

  function closeOne(id: string): void {
    open.get(id)?.abort(new Error("The request was closed."));
    open.delete(id);
  }

  return {
    take(id, method, params) {
      if (open.has(id)) return;
      if (method === "droid.request_permission") askPermission(id, params);
      else if (method === "droid.ask_user") askUser(id, params);
      else parts.refuse(id, method);
    },
    closeOne,
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
  if (call === undefined) return undefined;
  const details = recordOf(found);
  const name = textOf(details.type) ?? textOf(confirmationType) ?? "";
  const isKnown = Object.hasOwn(required, name) && required[name]?.every((key) => typeof details[key] === "string");
  const known = { ...details, type: name } as unknown as PermissionCall["details"];
  return { ...call, details: isKnown ? known : { type: "other", name, given: found } };
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
