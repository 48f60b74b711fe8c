/**
 * Others' words on a terminal. What a terminal acts on (control characters, C1 among them), what turns text around, and
 * what shows nothing is written out as `\u{1b}`: it is seen, and has no effect.
 */

/** Made when it is first needed, and of strings: literals are read at the start, and these take a millisecond. */
let pattern: RegExp | undefined;

/**
 * Signs of writing that show nothing by themselves stay where they belong: what makes an emoji one, or joins two, and the
 * joiners of Arabic and Indic scripts. One at a time: a row of them is a hiding place.
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

/** As it may stand on a terminal. Line ends and tabs stay. */
export function terminalText(text: string): string {
  return escapeUnseen(text.replaceAll("\r\n", "\n"), (char) => (char === "\n" || char === "\t" ? char : written(char)));
}

/** As it may stand on one line of a terminal: what ends lines is a space. */
export function terminalLine(text: string): string {
  return escapeUnseen(text, (char) => (/[\t-\r\u2028\u2029]/.test(char) ? " " : written(char)));
}

/** JSON that means the same, with the escapes of JSON. */
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
