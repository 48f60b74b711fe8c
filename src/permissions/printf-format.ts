/** A directive whose width and precision are written out and small: a width of a billion would fill the memory. */
const directive = /^%[-+ #0']*\d{0,4}(?:\.\d{0,4})?(?:hh|[hljztLq]|ll)?([diouxXeEfFgGaAcsbqQ]|\([^()]{0,100}\)T)/;

/**
 * Why a format of `printf` may do more than print; `undefined` when it only prints. `%n` sets the variable that its word
 * names, and a `*` takes a width from a word.
 */
export function formatRisk(format: string): string | undefined {
  for (let at = format.indexOf("%"); at !== -1; at = format.indexOf("%", at)) {
    const rest = format.slice(at, at + 130);
    const known = /^%%/.exec(rest) ?? directive.exec(rest);
    if (known === null)
      return /^%[^a-zA-Z]*n/.test(rest) ? "sets a variable by printf" : "prints in a way that is not known";
    at += known[0].length;
  }
  return undefined;
}
