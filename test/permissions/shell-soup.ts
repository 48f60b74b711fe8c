import { randomFrom } from "../fakes/seeded-random.ts";
import { command, type Source, simple } from "./shell-fuzz.ts";

/**
 * Programs without a grammar, for syntax that two parsers may read differently: the ends of quotes, comments, heredocs
 * and brackets. No piece contains a slash, a loop or a builtin that changes the shell, so they can only call stubs.
 */
export function soupOf(seed: number): string {
  const random = randomFrom(seed + 1_234_567);
  const source: Source = { ...random, ceiling: random.pick([1, 1, 2]), wild: false, left: 0 };
  const soup = random.chance(0.6) ? heredocSoup(source) : tokenSoup(source);
  // A line continuation beside a heredoc or backquotes is always `high`, so most soups have none.
  return seed % 4 === 0 ? soup : soup.replaceAll("\\\n", "");
}

// biome-ignore format: a table reads better in rows
const tokens = [
  "'", '"', "'", '"', "\\'", '\\"', "\\", "\\\n", "`", "`", "#", " #", " ", " ", "\n", "; ", " && ", " | ", "$'", "\\'",
  "$(", ")", "(", ")", "${x:-", "}", "{ ", "; }", "$((", "))", "((", "<(", "[[ ", " ]]", "x=(", "<<< ", "a", "=", "!",
  "case a in ", "a) ", ";; ", "esac", "if ", "; then ", "; fi", "echo ", "echo ", "x=", "$x", "*", "{a,", "<<ls", "\nls\n",
];

function tokenSoup(source: Source): string {
  let text = "";
  for (let count = 3 + source.below(10); count > 0; count -= 1) {
    text += source.pick(tokens);
    if (source.chance(0.4))
      text += source.pick(["", ";", "\n", "$("]) + short(source) + source.pick(["", "", " ", ";", "\n", ")"]);
  }
  return text;
}

/** A command without a slash, so that it cannot name a file elsewhere, whatever surrounds it. */
function short(source: Source): string {
  for (;;) {
    const text = source.chance(0.5) ? command(source) : simple(source);
    if (!text.includes("/") && !text.startsWith("cd")) return text;
  }
}

/** Lines that may or may not end a heredoc. The delimiter is also a harmless command. */
function heredocSoup(source: Source): string {
  const end = source.pick(["ls", "true"]);
  const half = end.slice(0, 1);
  const written = source.pick([
    ...Array<string>(6).fill(end),
    `'${end}'`,
    `"${end}"`,
    `\\${end}`,
    `${half}''${end.slice(1)}`,
    `$'${end}'`,
    `\\\n${end}`,
    `'\t${end}'`,
    `"${end}\n"`,
  ]);
  const opener = source.pick(["<<", "<<-", "<< ", "<<- ", "0<<", "<<<"]) + written;
  const rest = source.pick(["", " ", "; ls", " | cat", " && \\", " # note", " <<true", ` ${opener}`, " |", " &&"]);
  const head = source.pick(["cat ", "", "echo $(cat ", "{ cat ", "x=`cat "]) + opener + rest;
  const closing = head.startsWith("echo") ? ")" : head.startsWith("{") ? "}" : head.startsWith("x") ? "`" : "";
  const lines = Array.from({ length: 2 + source.below(6) }, () =>
    source.pick([
      ...[
        end,
        end,
        `\t${end}`,
        ` ${end}`,
        `${end} `,
        `${end} \\`,
        "echo text \\",
        'echo "it\'s"',
        "",
        "#",
        closing,
        `${end}${closing}`,
      ],
      ...[
        short(source),
        short(source),
        short(source),
        `echo $(${short(source)})`,
        `echo \`${short(source)}\``,
        `\\${end}`,
      ],
    ]),
  );
  const tail = source.pick([[], [end], [end, closing], [end, closing, short(source)]]);
  return [head, ...lines, ...tail].join("\n");
}
