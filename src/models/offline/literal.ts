/** Texts that can only be meant as they are written. Anything else may describe an answer that has yet to be found. */
import { quotedWhole, withoutEnd, wordSet } from "./words.ts";

/** Says that something was heard or done, and judges nothing. */
const acknowledgements = wordSet(
  "ok okay done noted understood acknowledged ack ready received roger 好 好的 完成 已完成 收到 明白 明白了 知道了 了解 记住了",
);
const greetings = wordSet(
  "yes no hi hello hey bye goodbye thanks welcome ping pong test 你好 您好 是 否 谢谢 再见 测试",
);
const greeting = /^(?:hello|hi|hey)[,，]?\s*(?:world|there|tinman|again)$|^good (?:morning|afternoon|evening|night)$/i;

/** Capitals that name a form of an answer. */
const formats = wordSet("json jsonl yaml xml csv html sql toml markdown md");

/** The text that `given` stands for, if it is quoted, a marker or a greeting. */
export function literalIn(given: string): string | undefined {
  const text = withoutEnd(given);
  return quotedWhole(given) ?? (isPlainLiteral(text) ? text : undefined);
}

export function isAcknowledgement(text: string): boolean {
  return acknowledgements.has(withoutEnd(text).toLowerCase());
}

function isPlainLiteral(text: string): boolean {
  const lower = text.toLowerCase();
  if (acknowledgements.has(lower) || greetings.has(lower) || greeting.test(text)) return true;
  return text.length <= 100 && isMarker(text) && !formats.has(lower);
}

/** OK, PINEAPPLE, DOLPHIN-2288, word-7, 42. A part behind a hyphen has a digit: PASS-FAIL is a choice. */
function isMarker(text: string): boolean {
  const [first = "", ...others] = text.split(/[-_]/);
  if (others.length === 0) return /^(?:\d+|[A-Z][A-Z0-9]*|[A-Za-z]+\d[A-Za-z0-9]*)$/.test(first);
  return /^[A-Za-z][A-Za-z0-9]*$/.test(first) && others.every((part) => /^(?=\D*\d)[A-Za-z0-9]+$/.test(part));
}

const codeName = /^(?=.*(?:[a-z][A-Z]|\d|[_$.:]|\(\)))[A-Za-z_$][\w$]*(?:(?:\.|::|->)[\w$]+)*(?:\(\))?$/;

/** Names of a program's text that nobody uses for a finding: `parseConfig`, `max_size`, TODO. */
export function isCodeName(text: string): boolean {
  return /^(?:TODO|FIXME|XXX|HACK)$/.test(text) || codeName.test(text);
}
