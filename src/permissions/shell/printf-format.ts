/** A directive with a small literal width and precision. A huge width would exhaust memory. */
const directive = /^%[-+ #0']*\d{0,4}(?:\.\d{0,4})?(?:hh|[hljztLq]|ll)?([diouxXeEfFgGaAcsbqQ]|\([^()]{0,100}\)T)/;

/**
 * Why a `printf` format may do more than print; `undefined` if it only prints. `%n` sets the variable that its argument
 * names, and `*` takes a width from an argument.
 */
export function formatRisk(format: string): string | undefined {
  for (let at = format.indexOf("%"); at !== -1; at = format.indexOf("%", at)) {
    const rest = format.slice(at, at + 130);
    const known = /^%%/.exec(rest) ?? directive.exec(rest);
    if (known === null)
      return /^%[^a-zA-Z]*n/.test(rest) ? "sets a variable with printf" : "prints with an unknown format";
    at += known[0].length;
  }
  return undefined;
}
