/** Recognisers of requests whose text is theirs to the end: a question for the user, a plan, a list of things to do. */
import type { Action, Clause } from "./intent-types.ts";
import { languageOf, plain, withoutEnd } from "./words.ts";

const askEn =
  /^(?:ask|quiz|prompt|consult|question)\s+(?:me|the user|us)\b(?:\s+(?:a question|to (?:choose|pick|select|decide|confirm)))?[\s,]*(?:(?:about|between|from|for|on)\s+)?(?<rest>[\s\S]*)$|^(?:let|have)\s+(?:me|the user)\s+(?:choose|pick|select|decide)\s+(?:between |from |among )?(?<rest2>[\s\S]+)$/i;
const askZh =
  /^(?:问|询问|问问|问一下)(?:一?下)?(?:我|用户)(?:一个问题)?[，,：:]?\s*(?<rest>[\s\S]*)$|^让(?:我|用户)(?:来)?(?:选择?|挑选?|决定)(?:一下)?[，,：:]?\s*(?<rest2>[\s\S]+)$/;

/** Cheap to look for, so that other requests do not pay for the rules. */
const askWords = /^(?:ask|quiz|prompt|consult|question|let|have|问|询|让)/i;

/** "ask me which colour I want: red or blue" */
export function ask({ text }: Clause): Action | undefined {
  if (!askWords.test(text)) return undefined;
  const found = (askEn.exec(text) ?? askZh.exec(text))?.groups;
  const rest = found?.rest ?? found?.rest2;
  if (rest === undefined) return undefined;
  const zh = languageOf(text) === "zh";
  const { head, options } = optionsIn(withoutEnd(rest.replace(/^[:：,，\s]+/, "")), zh);
  const question = questionFrom(head, options, zh);
  return { type: "ask", question, topic: topicFrom(head, zh), options };
}

function optionsIn(text: string, zh: boolean): { readonly head: string; readonly options: readonly string[] } {
  const cut =
    /[:：]\s*|\s+(?:options are|from|between|with (?:the )?options|choices are)\s+|[，,]\s*(?:选项(?:是|有|为)?|可选)[:：]?\s*/i.exec(
      text,
    );
  if (cut !== null && cut.index > 0) {
    const options = split(text.slice(cut.index + cut[0].length), zh);
    if (options.length > 1) return { head: text.slice(0, cut.index), options };
  }
  const listed = zh ? /^(.*?)[，,]\s*(.+(?:还是|或者?|、).+)$/.exec(text) : /^(.*?),\s*(.+\bor\b.+)$/i.exec(text);
  if (listed !== null) {
    const options = split(listed[2] ?? "", zh);
    if (options.length > 1) return { head: listed[1] ?? "", options };
  }
  const whole = split(text, zh);
  if (whole.length > 1) {
    // "whether I want tea or coffee": the first choice begins after the verb.
    const lead = zh
      ? /^(.*?(?:想要|喜欢|选择?|要|用|是|想))(?=\S)/.exec(whole[0] ?? "")?.[1]
      : /^(.*\b(?:want|prefer|like|need|use|choose|pick|take|have|be|is|should)\b)\s/i.exec(whole[0] ?? "")?.[1];
    const first = (whole[0] ?? "").slice(lead?.length ?? 0).trim();
    if (/^(?:哪|什么)/.test(first) || first === "") return { head: text, options: [] };
    const head = /^(?:whether|if)\b/i.test(text) ? text : (lead ?? "");
    return { head, options: [first, ...whole.slice(1)] };
  }
  return { head: text, options: [] };
}

function split(text: string, zh: boolean): readonly string[] {
  const parts = text.split(
    zh ? /\s*(?:还是|或者?|、|，|,|\/)\s*/ : /\s*(?:,\s*or\s+|,\s*and\s+|,|\s+or\s+|;|\/|\s+vs\.?\s+|\band\b)\s*/i,
  );
  return parts
    .map((part) =>
      plain(part)
        .replace(/^(?:either|between|the following)\s+/i, "")
        .replace(/[[\]\n]/g, " ")
        .trim(),
    )
    .filter((part) => part !== "");
}

function questionFrom(head: string, options: readonly string[], zh: boolean): string {
  const text = withoutEnd(head)
    .replace(/[[\]\n]/g, " ")
    .trim();
  if (zh) {
    const asked = text.replace(/我(?!们)/g, "你");
    if (asked === "") return "你选哪个？";
    const addressed = /^(?:想|要|喜欢|需要|用|选|叫|住)/.test(asked) ? `你${asked}` : asked;
    const complete = /什么|哪|多少|几|吗|谁|是否|怎么/.test(addressed) || options.length === 0;
    if (!complete && /(?:要|喜欢|选择?|用|想)$/.test(addressed)) return `${addressed}哪个？`;
    return complete ? `${addressed}？` : `${addressed}：你选哪个？`;
  }
  if (text === "") return "Which one do you choose?";
  const wanted =
    /^(which|what)\s+(.+?)\s+(?:that )?i\s+(?:would\s+|['’]d\s+)?(want|like|prefer|need|use|choose|should use|have)\b(.*)$/i.exec(
      text,
    );
  if (wanted !== null) return capital(`${wanted[1]} ${wanted[2]} do you ${wanted[3]}${wanted[4] ?? ""}?`);
  const plainWanted = /^(what|which)\s+i\s+(want|like|prefer|need)\b(.*)$/i.exec(text);
  if (plainWanted !== null) return capital(`${plainWanted[1]} do you ${plainWanted[2]}${plainWanted[3] ?? ""}?`);
  const whether = /^(?:whether|if)\s+(.*)$/i.exec(text)?.[1];
  if (whether !== undefined) {
    if (/^to\b/i.test(whether)) return capital(`should I ${toUser(whether.replace(/^to\s+/i, ""))}?`);
    return capital(`${toUser(whether.replace(/^i\s+(?:want|prefer|like)/i, "do you want"))}?`);
  }
  const turned = /^(what|which|who|where|when|how)\s+(.+?)\s+(is|are|was|were)$/i.exec(text);
  if (turned !== null) return capital(`${turned[1]} ${turned[3]} ${toUser(turned[2] ?? "")}?`);
  const noun = /^(?:for\s+)?(my|the|a|an)\s+(.+)$/i.exec(text);
  if (noun !== null)
    return options.length > 0
      ? `Which ${noun[2]} do you choose?`
      : `What is ${noun[1]?.toLowerCase() === "my" ? "your" : noun[1]?.toLowerCase()} ${noun[2]}?`;
  return capital(`${toUser(text)}?`);
}

function toUser(text: string): string {
  return text
    .replace(/\bi am\b/gi, "you are")
    .replace(/\bmy\b/gi, "your")
    .replace(/\bi\b/gi, "you")
    .replace(/\bme\b/gi, "you");
}

function topicFrom(head: string, zh: boolean): string {
  if (zh) return /(?:哪[种个些]?|什么)([\u3400-\u9fff]{1,4})/.exec(head)?.[1] ?? "选择";
  const noun = /^(?:which|what|for|my|the|a|an)\s+(?:my |the )?([a-z-]+)/i.exec(head.trim())?.[1];
  return noun === undefined || /^(?:i|is|do|to|should|would)$/i.test(noun) ? "Choice" : capital(noun);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const planRules = [
  /^(?:make|create|draft|write|give me|propose|prepare|outline|come up with|design|develop|sketch|put together|produce|show me|build|suggest|present|work out|i (?:need|want)|we need)\s+(?:me\s+)?(?:a |an |the |your |some )?(?:[\w-]+ ){0,2}?plan\b(?!\.\w)\s*(?:(?:to|for|of|on how to|how to|that|about)(?![\w-])|:|,)?\s*(?<goal>[\s\S]*)$/i,
  /^plan\s+(?:out\s+)?(?:how (?:to|you would|you will|we can|i can)\s+|to\s+|for\s+|the following[:,]?\s*)?(?<goal>[\s\S]+)$/i,
  /^(?:what(?:['’]s| is| would be) (?:your|the|a good) plan|how would you (?:plan|approach))\s*(?:(?:to|for)\b|:)?\s*(?<goal>[\s\S]*)$/i,
  /^(?:给|为|就|针对|对)\s*(?<goal>[\s\S]+?)\s*(?:做|制定|写|拟定?|出|规划|设计)(?:一下|一个|一份|个|份)?(?:详细的?|简单的?)?(?:计划|规划|方案)[。]?$/,
  /^(?:制定|做|写|拟定?|出|设计|给出|给我)(?:一个|一份|个|份)?(?<goal>[\s\S]*?)的?(?:计划|规划|方案)[。]?$/,
  /^(?:制定|做|写|给出)(?:一个|一份|个|份)?(?:计划|规划|方案)\s*[，,：:]\s*(?:来|用来|以)?(?<goal>[\s\S]+)$/,
  /^(?:计划|规划|策划)(?:一下|如何|怎么|怎样|：|:)*\s*(?<goal>[\s\S]+)$/,
  /^(?:制定|做|写|给出)(?:一个|一份|个|份)?(?:计划|方案)[，,：:]?(?:来|用来|以)?\s*(?<goal>[\s\S]*)$/,
];

export function plan({ text }: Clause): Action | undefined {
  if (!/plan|approach|计划|规划|策划|方案/i.test(text)) return undefined;
  for (const rule of planRules) {
    const goal = rule.exec(text)?.groups?.goal;
    if (goal !== undefined) return { type: "plan", goal: withoutEnd(goal) };
  }
  return undefined;
}

const todoRules = [
  /^(?:please )?(?:track|add|write|create|make|keep|set up|put|save|start|update|manage|note)\b[^:：\n]{0,60}?\b(?:to-?dos?|to do|tasks?)\b(?: list| items?| entries)?(?:\s+(?:with|for|of|containing)(?:\s*[:：]\s*|\s+)|\s*[:：]\s*|\s+[-–]\s+|\s*\n)(?<items>[\s\S]+)$/i,
  /^(?:to-?dos?|to-?do list|tasks?)\s*[:：]\s*(?<items>[\s\S]+)$/i,
  /^(?:add|put)\s+(?<items>.+?)\s+(?:to|on|in)\s+(?:my|the|our|a)\s+(?:to-?do|task)s?(?: list)?[.!]?$/i,
  /^(?:记录|添加|新增|创建|建立|列出|跟踪|加入|更新|写)?(?:一下|以下|这些|下面的?|如下|一个)*(?:待办事项|待办|任务清单|任务列表|todo)(?:清单|列表|事项)?\s*[:：，,]\s*(?<items>[\s\S]+)$/i,
];

export function todo({ text }: Clause): Action | undefined {
  if (!/to-?\s?do|task|待办|任务/i.test(text)) return undefined;
  for (const rule of todoRules) {
    const given = rule.exec(text)?.groups?.items;
    if (given === undefined) continue;
    const lines = given.includes("\n")
      ? given.split("\n")
      : given.split(/\s*(?:,\s*and\s+|,|;|，|；|、|\s+and\s+|\s+和\s+)\s*/i);
    const items = lines
      .map((line) => plain(line.replace(/^\s*(?:[-*•]|\d+[.)、])\s*(?:\[.?\]\s*)?/, "")).replace(/\s+/g, " "))
      .filter((line) => line !== "");
    if (items.length > 0) return { type: "todo", items };
  }
  return undefined;
}
