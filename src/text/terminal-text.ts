/**
 * Untrusted text for a terminal. Control characters (including C1), direction marks and invisible characters are written as
 * `\u{1b}`, visible and without effect.
 */

/** Created on first use from strings: literals are compiled at start-up, and these take a millisecond. */
let pattern: RegExp | undefined;

/**
 * Keeps invisible characters where scripts need them: emoji selectors and joiners, and joiners of Arabic and Indic scripts.
 * Only one at a time, because a row of them could hide text.
 */
const inPlace = [
  String.raw`(?<=\p{Emoji})[\ufe0e\ufe0f]`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)\u200d(?=\p{Extended_Pictographic})`,
];
const joining = "Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr";
const unseen = String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]`;

function makePattern(): RegExp {
  const scripts = joining.split(" ").map((script) => `\\p{scx=${script}}`);
  const kept = [...inPlace, String.raw`(?<=[${scripts.join("")}])[\u200c\u200d]`];
  return new RegExp(`(${kept.join("|")})|${unseen}`, "gu");
}

function escapeUnseen(text: string, escaped: (char: string) => string): string {
  pattern ??= makePattern();
  return text.replace(pattern, (char: string, kept: string | undefined) => kept ?? escaped(char));
}

/** Safe on a terminal. Keeps line ends and tabs. */
export function terminalText(text: string): string {
  return escapeUnseen(text.replaceAll("\r\n", "\n"), (char) => (char === "\n" || char === "\t" ? char : written(char)));
}

/** Safe on one line of a terminal: line ends become spaces. */
export function terminalLine(text: string): string {
  return escapeUnseen(text, (char) => (/[\t-\r\u2028\u2029]/.test(char) ? " " : written(char)));
}

/** Equivalent JSON, using JSON's escapes. */
export function terminalJson(json: string): string {
  return escapeUnseen(json, (char) =>
    Array.from({ length: char.length }, (_, index) => {
      return `\\u${char.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}

function written(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
