/** Computes the next reply from a conversation. */
import { callsOf, type Message, type ToolResultBlock, textOf, type UserMessage } from "../../engine/message.ts";
import type { ModelRequest } from "../../engine/ports.ts";
import { type Action, act, type Report, reportOf, trouble } from "./steps.ts";
import { introduced } from "./talk.ts";
import { capital, hasHan, type Say, shorten, type Words } from "./texts.ts";
import { stateAfter, type Understanding, understand } from "./understand.ts";

export interface NextReply {
  readonly text: string;
  /** False if no rule matches the request, or part of it was not done. */
  readonly understood: boolean;
  readonly call?: Pick<Action, "tool" | "input">;
}

/** Limit for the calls of one turn. */
const mostCalls = 8;
const stopped: Words = [
  `I stopped: ${mostCalls} tool calls are my limit for one request. The steps before are done, the rest are not.`,
  `我到此为止：每个请求最多调用 ${mostCalls} 次工具。前面的已完成，其余没有做。`,
];

/** Runs a turn's steps from the start for every reply, reusing existing results. */
type Work<T> = Generator<Action, T, ToolResultBlock>;

export function nextReply({ messages, mode, tools }: ModelRequest): NextReply {
  const conversation = conversationOf(messages);
  const { request, results } = conversation;
  const say: Say = (words) => words[hasHan(request) ? 1 : 0];
  const work = answer(conversation, mode === "spec", say);
  let step = work.next(nothing);
  for (let used = 0; step.done !== true; used += 1) {
    const { tool, input, does, saying = [`I'll ${does[0]}.`, `我来${does[1]}。`] } = step.value;
    const isOffered = tools.some(({ name }) => name === tool);
    const missing = { ...nothing, name: tool, text: `no tool for it is available here (${tool})` };
    const result = results[used] ?? (isOffered ? undefined : missing);
    if (result !== undefined) step = work.next(result);
    // Unfinished work must not look like success.
    else if (used >= mostCalls) return { text: say(stopped), understood: false };
    else return { text: say(saying), call: { tool, input }, understood: true };
  }
  return step.value;
}

const nothing: ToolResultBlock = { type: "tool_result", callId: "", name: "", status: "interrupted", text: "" };

function* answer(conversation: Conversation, inSpecMode: boolean, say: Say): Work<NextReply> {
  const { request, earlier, hasAttachments, path, results } = conversation;
  const refused = (en: string, zh: string): NextReply => ({ text: say(introduced(en, zh).words), understood: false });
  if (request === "" && hasAttachments)
    return refused("I cannot look at pictures or documents. ", "我无法查看图片或文档。");
  const before = stateAfter(earlier, path);
  const asked = understand(request, before);
  const plan = asked?.steps.find((step) => step.kind === "plan");
  const understood = plan === undefined ? asked : understand(plan.goal, before);
  const actions = understood?.steps.filter((step) => step.kind === "act") ?? [];
  // "Summarize this" with an attachment is not about the folder, and a plan for it would be made up.
  const isAboutIt = hasAttachments && actions.some((action) => action.isLoose === true);
  if (understood === undefined || isAboutIt || (plan !== undefined && actions.length === 0))
    return refused(
      "I did not understand all of that, so nothing was done. ",
      "我没有完全理解这个请求，所以什么都没有做。",
    );
  // Approving the plan ends the mode.
  const isSpecMode = inSpecMode || results[0]?.name === "ExitSpecMode";
  if (plan !== undefined || (isSpecMode && actions.some((action) => action.changes === true))) {
    const title = capital(shorten(plan?.goal ?? request, 100));
    const lines = actions.map((action, index) => `${index + 1}. ${asLine(action, say)}`);
    const text = `# ${title}\n\n${lines.join("\n")}`;
    const does: Words = ["go on with the plan", "继续执行计划"];
    const result = yield act("ExitSpecMode", { plan: text, title }, does, {
      saying: ["Here is my plan.", "这是我的计划。"],
    });
    // Outside spec mode, the plan itself was requested.
    if (plan !== undefined && result.status !== "refused" && result.status !== "ok") return { text, understood: true };
    if (result.status !== "ok") return { ...trouble(result, does, say), understood: true };
  }
  return yield* carryOut(understood, say);
}

function* carryOut({ steps, bare, exact }: Understanding, say: Say): Work<NextReply> {
  const texts: string[] = [];
  let understood = true;
  for (const [index, step] of steps.entries()) {
    // Only the value is wanted, without an acknowledgement.
    if (step.kind === "plan" || (bare && step.kind === "say" && step.fact !== undefined)) continue;
    const report = step.kind === "act" ? yield* perform(step, say) : { ...step, text: say(step.words), ok: true };
    understood &&= report.understood !== false;
    texts.push(bare && report.ok ? (report.value ?? report.text) : report.text);
    if (report.ok) continue;
    const left = steps.slice(index + 1).flatMap((other) => (other.kind === "act" ? [asLine(other, say)] : []));
    // Its text would look like the answer.
    if (exact !== undefined) left.push(say(["Give the requested reply.", "给出你要的回复。"]));
    const rest = left.join(" ");
    if (left.length > 0) texts.push(say([`So I did not do the rest: ${rest}`, `因此后面的步骤没有执行：${rest}`]));
    return { text: texts.join("\n\n"), understood: understood && left.length === 0 };
  }
  const all = texts.filter((text) => text !== "").join("\n\n");
  return { text: exact ?? (all || say(["(nothing)", "（无）"])), understood };
}

function* perform(first: Action, say: Say): Work<Report> {
  let action = first;
  for (;;) {
    const next = reportOf(action, yield action, say);
    if (!("tool" in next)) return next;
    action = next;
  }
}

const asLine = ({ does }: Action, say: Say): string => say([`${capital(does[0])}.`, `${does[1]}。`]);

type Conversation = ReturnType<typeof conversationOf>;

/** The user's text and the tool results since. Results and reminders don't count as the user's text. */
function conversationOf(messages: readonly Message[]) {
  const last = messages.findLastIndex(isUser);
  // A turn takes up waiting prompts together. Only the first has reminders.
  let first = Math.max(last, 0);
  while (messages.slice(Math.max(first - 1, 0), first).some(isUser) && !hasReminder(messages[first])) first -= 1;
  const prompts = messages.slice(first, last + 1).filter(isUser);
  const calls = messages.slice(0, first).flatMap((message) => (message.role === "assistant" ? callsOf(message) : []));
  return {
    request: prompts.map(ownWords).join("\n"),
    earlier: messages.slice(0, first).filter(isUser).map(ownWords),
    results: messages.slice(last + 1).flatMap((message) => (message.role === "tool" ? message.content : [])),
    hasAttachments: prompts.some(
      ({ content }) =>
        pipedInput.test(textOf(content)) || content.some(({ type }) => /^(?:image|document)$/.test(type)),
    ),
    path: calls.flatMap(({ input }) => pathIn(input)).at(-1),
  };
}

const isUser = (message: Message): message is UserMessage => message.role === "user";
const hasReminder = (message: Message | undefined): boolean =>
  message?.role === "user" && message.content.some(({ type }) => type === "reminder");

const pathIn = (input: unknown): readonly string[] =>
  typeof input === "object" && input !== null && "file_path" in input ? [String(input.file_path)] : [];

/** Piped input follows the prompt. */
const pipedInput = /\n\n<(stdin(?:-\d+)?)>\n[\s\S]*\n<\/\1>\s*$/;

function ownWords({ content }: UserMessage): string {
  const text = textOf(content).replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "");
  return text.replace(pipedInput, "").trim();
}
