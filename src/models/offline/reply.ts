/** Intents and the tool results of this turn -> the next thing to say or call. */
import type { ToolResultBlock } from "../../core/message.ts";
import type { Conversation } from "./conversation.ts";
import { factsToldIn, type Understanding, understand } from "./intent.ts";
import { isAction, previousPath, type Step, type Talk } from "./intent-types.ts";
import { bestFact, type Fact, isAbout } from "./memory.ts";
import { inLanguage, isClause, noted, told, trouble, whatIAm } from "./phrases.ts";
import { changes, describe, type Plan, planFor } from "./plan.ts";
import { type Call, perform, type Report, type Task } from "./tasks.ts";
import { type Language, languageOf } from "./words.ts";

export interface NextReply {
  readonly text: string;
  /** False when no rule fits the request, or a part of it. */
  readonly understood: boolean;
  readonly call?: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
}

/** A turn ends after this many calls, whatever is still to do. */
const mostCalls = 8;

export function nextReply(conversation: Conversation): NextReply {
  const { request, earlier, results } = conversation;
  const language = languageOf(request);
  if (request === "") return { text: withoutWords(conversation, language), understood: !conversation.attachments };
  const understanding = withAttachments(
    understand(request, () => factsToldIn(earlier)),
    conversation,
  );
  const work = answer(understanding, conversation, language);
  let used = 0;
  let step = work.next();
  while (step.done !== true) {
    const ways = step.value;
    const recorded = results[used];
    if (recorded !== undefined) {
      used += 1;
      step = work.next(recorded);
      continue;
    }
    const way = ways.find((call) => conversation.offers(call.name));
    if (way === undefined) {
      step = work.next(notOffered(ways));
      continue;
    }
    // What is left undone must not look like success.
    if (used >= mostCalls) return { text: stopped(language), understood: false };
    return { text: way.say, call: { name: way.name, input: way.input }, understood: true };
  }
  return step.value;
}

/** No rule reads an attachment, so "summarize this" beside one is not about the folder. */
function withAttachments(understanding: Understanding, { attachments }: Conversation): Understanding {
  if (!attachments || !understanding.steps.some((step) => step.type === "summary")) return understanding;
  return { steps: [{ type: "unknown" }], bare: false, exact: undefined };
}

type Answer = Pick<NextReply, "text" | "understood">;

/** The whole turn as one piece of work that returns the final text. */
function* answer(
  understanding: Understanding,
  conversation: Conversation,
  language: Language,
): Generator<readonly Call[], Answer, ToolResultBlock> {
  const planned = yield* planFirst(understanding, conversation, language);
  if ("text" in planned) return planned;
  const { steps, bare, exact } = planned;
  const texts: string[] = [];
  let understood = true;
  for (const [index, step] of steps.entries()) {
    const report = yield* doStep(step, conversation, language);
    understood &&= report.understood ?? true;
    // Whoever wants only a value wants no acknowledgement beside it.
    if (bare && step.type === "remember" && steps.length > 1) continue;
    texts.push(bare && report.ok ? (report.value ?? report.text) : report.text);
    if (report.ok) continue;
    const left = steps
      .slice(index + 1)
      .filter(isAction)
      .map((other) => describe(other, language));
    // Its words would look like the answer.
    if (exact !== undefined) left.push(inLanguage(language, "Give the reply that you asked for.", "给出你要的回复。"));
    if (left.length > 0) {
      const names = left.join(" ");
      texts.push(inLanguage(language, `So I did not do the rest: ${names}`, `因此后面的步骤没有执行：${names}`));
    }
    // Some of the request was not done.
    return { text: texts.join("\n\n"), understood: understood && left.length === 0 };
  }
  const all = texts.filter((text) => text !== "").join("\n\n") || inLanguage(language, "(nothing)", "（无）");
  return { text: understood ? (exact ?? all) : all, understood };
}

/**
 * In spec mode nothing may change before a plan is approved. The mode is over once that has happened, so a plan in this
 * turn's results counts as well.
 */
function* planFirst(
  understanding: Understanding,
  conversation: Conversation,
  language: Language,
): Generator<readonly Call[], Understanding | Answer, ToolResultBlock> {
  const [first] = understanding.steps;
  const asked = first?.type === "plan" ? first : undefined;
  const needed =
    understanding.steps.some(changes) && (conversation.specMode || conversation.results[0]?.name === "ExitSpecMode");
  if (asked === undefined && !needed) return understanding;
  const goal = asked?.goal ?? conversation.request;
  const inner = asked === undefined ? understanding : understand(goal, () => []);
  // A plan of work that no rule can do would be made up.
  if (!inner.steps.some(isAction) || inner.steps.some((step) => step.type === "plan")) {
    return { steps: [{ type: "unknown" }], bare: false, exact: undefined };
  }
  const plan = planFor(goal, inner.steps, language);
  const result = yield [planCall(plan, language)];
  if (result.status === "ok") return inner;
  // Outside spec mode the plan itself is what was asked for.
  if (asked !== undefined && result.status === "failed") return { text: plan.plan, understood: true };
  const doing = inLanguage(language, "go on with the plan", "继续执行计划");
  return { text: trouble(result, doing, language), understood: true };
}

function planCall(plan: Plan, language: Language): Call {
  return {
    name: "ExitSpecMode",
    input: { plan: plan.plan, title: plan.title },
    say: inLanguage(language, "Here is my plan.", "这是我的计划。"),
  };
}

function* doStep(step: Step, conversation: Conversation, language: Language): Task {
  if (!isAction(step)) return talk(step, conversation, language);
  if (step.type === "plan") return talk({ type: "unknown" }, conversation, language);
  if ((step.type === "read" || step.type === "edit") && step.path === previousPath) {
    const path = conversation.lastPath();
    if (path === undefined) {
      return {
        text: inLanguage(language, "I do not know which file you mean.", "我不知道你指的是哪个文件。"),
        ok: false,
      };
    }
    return yield* perform({ ...step, path }, language);
  }
  return yield* perform(step, language);
}

function talk(step: Talk, conversation: Conversation, language: Language): Report {
  const say = (en: string, zh: string): Report => ({ text: inLanguage(language, en, zh), ok: true });
  switch (step.type) {
    case "remember":
      return { text: noted(step.statement, language), ok: true };
    case "recall":
      return recalled(step, conversation, language);
    case "calculate":
      return { text: `${step.expression} = ${step.value}`, ok: true, value: String(step.value) };
    case "greet":
      return say(`Hello! ${whatIAm(language)}`, `你好！${whatIAm(language)}`);
    case "identity":
    case "help":
      return { text: whatIAm(language), ok: true };
    case "thanks":
      return say("You are welcome.", "不客气。");
    case "continue":
      return {
        text: `${lastRequest(conversation, language)} ${whatIAm(language)}`.trim(),
        ok: true,
        understood: isUnderstood(conversation.earlier.at(-1)),
      };
    case "previous":
      return { text: lastRequest(conversation, language), ok: true };
    case "placeholder":
      return say(
        `That stands for a request and names none, so nothing was done. ${whatIAm(language)}`,
        `这只是一个占位的请求，没有做任何事。${whatIAm(language)}`,
      );
    case "unknown":
      return {
        text: inLanguage(
          language,
          `I did not understand all of that, so nothing was done. ${whatIAm(language)}`,
          `我没有完全理解这个请求，所以什么都没有做。${whatIAm(language)}`,
        ),
        ok: false,
        understood: false,
      };
  }
}

function recalled(step: Talk & { type: "recall" }, conversation: Conversation, language: Language): Report {
  const facts = factsToldIn([...conversation.earlier, conversation.request]);
  const found = step.everything ? latestOfEach(facts) : factsFor(step, facts);
  if (found.length === 0) {
    return {
      text: inLanguage(language, "You have not told me that in this conversation.", "你在这次对话中没有告诉过我。"),
      ok: true,
      ...(step.isGuess === true ? { understood: false } : {}),
    };
  }
  const all = found.map((fact) => told(fact, language)).join(inLanguage(language, "; ", "；"));
  return {
    text: inLanguage(language, `You told me${found.every(isClause) ? " that" : ":"} ${all}.`, `你告诉过我：${all}。`),
    ok: true,
    value: found.map((fact) => fact.value).join("\n"),
  };
}

function factsFor({ question, isStrict }: Talk & { type: "recall" }, facts: readonly Fact[]): readonly Fact[] {
  const best = bestFact(facts, question);
  return best === undefined || (isStrict === true && !isAbout(best, question)) ? [] : [best];
}

function latestOfEach(facts: readonly Fact[]): readonly Fact[] {
  const bySubject = new Map(facts.map((fact) => [fact.terms.join(" ") || fact.value, fact]));
  return [...bySubject.values()];
}

function isUnderstood(request: string | undefined): boolean {
  return request !== undefined && !understand(request, () => []).steps.some(({ type }) => type === "unknown");
}

function lastRequest(conversation: Conversation, language: Language): string {
  const last = conversation.earlier.at(-1);
  if (last === undefined)
    return inLanguage(language, "There is no earlier request in this conversation.", "这次对话中没有更早的请求。");
  const short = last.length > 200 ? `${last.slice(0, 199)}…` : last;
  return inLanguage(
    language,
    `Your last request was "${short}". I keep no unfinished steps of it, so please name the next step.`,
    `你上一个请求是“${short}”。我没有保留未完成的步骤，请直接说出下一步。`,
  );
}

function withoutWords(conversation: Conversation, language: Language): string {
  if (!conversation.attachments) return whatIAm(language);
  return inLanguage(
    language,
    `I cannot look at pictures or documents. ${whatIAm(language)}`,
    `我无法查看图片或文档。${whatIAm(language)}`,
  );
}

function notOffered(ways: readonly Call[]): ToolResultBlock {
  const name = ways[0]?.name ?? "";
  const names = [...new Set(ways.map((way) => way.name))].join(", ");
  return {
    type: "tool_result",
    callId: "",
    name,
    status: "failed",
    text: `Error: no tool for it is available here (${names})`,
  };
}

function stopped(language: Language): string {
  return inLanguage(
    language,
    `I stop here: ${mostCalls} tool calls are my limit for one request. What came before is done, the rest is not.`,
    `我到此为止：每个请求最多调用 ${mostCalls} 次工具。前面的已完成，其余没有做。`,
  );
}
