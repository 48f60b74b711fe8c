type Token = { readonly type: "star" } | { readonly type: "one"; matches(character: string): boolean };

const mostAlternatives = 100;

/**
 * Tells whether names match a pattern of `*`, `?`, `[a-z]`, `[!a-z]` and `{a,b}`. Case matters. Time grows with the
 * product of the lengths and no faster, whatever the pattern.
 */
export function compileWildcard(pattern: string): (name: string) => boolean {
  const alternatives = expandBraces(pattern).map(tokenize);
  return (name) => {
    const characters = Array.from(name);
    return alternatives.some((tokens) => matchesTokens(tokens, characters));
  };
}

function expandBraces(pattern: string): readonly string[] {
  let open = [pattern];
  for (;;) {
    const next = open.flatMap(expandFirst);
    if (next.length === open.length || next.length > mostAlternatives) return open;
    open = next;
  }
}

function expandFirst(pattern: string): readonly string[] {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (group === null) return [pattern];
  const before = pattern.slice(0, group.index);
  const after = pattern.slice(group.index + group[0].length);
  return (group[1] ?? "").split(",").map((choice) => before + choice + after);
}

function tokenize(pattern: string): readonly Token[] {
  const characters = Array.from(pattern);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    if (character === "*") {
      if (tokens.at(-1)?.type !== "star") tokens.push({ type: "star" });
    } else if (character === "?") {
      tokens.push({ type: "one", matches: () => true });
    } else if (character === "[") {
      // A "]" right behind the opening bracket, or its negation, is a member.
      const negated = characters[at + 1] === "!" || characters[at + 1] === "^";
      const first = at + (negated ? 2 : 1);
      const end = characters.indexOf("]", first + 1);
      if (end === -1) {
        tokens.push(literal(character));
      } else {
        const members = characters.slice(first, end);
        tokens.push({ type: "one", matches: (candidate) => isMember(members, candidate) !== negated });
        at = end;
      }
    } else if (character === "\\" && at + 1 < characters.length) {
      at += 1;
      tokens.push(literal(characters[at] ?? ""));
    } else {
      tokens.push(literal(character));
    }
  }
  return tokens;
}

function literal(expected: string): Token {
  return { type: "one", matches: (candidate) => candidate === expected };
}

function isMember(members: readonly string[], candidate: string): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const low = members[at] ?? "";
    const high = members[at + 2];
    if (members[at + 1] === "-" && high !== undefined) {
      if (candidate >= low && candidate <= high) return true;
      at += 2;
    } else if (candidate === low) return true;
  }
  return false;
}

/** On a mismatch only the latest star takes one character more: earlier ones never need to. */
function matchesTokens(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starTook = 0;
  while (at < name.length) {
    const current = tokens[token];
    if (current?.type === "star") {
      star = token;
      starTook = at;
      token += 1;
    } else if (current?.matches(name[at] ?? "")) {
      token += 1;
      at += 1;
    } else if (star !== -1) {
      starTook += 1;
      at = starTook;
      token = star + 1;
    } else return false;
  }
  while (tokens[token]?.type === "star") token += 1;
  return token === tokens.length;
}
