/** The value of a plain arithmetic expression with at least one operator; `undefined` for anything else. */
export function evaluate(expression: string): number | undefined {
  const source = expression.replace(/\s+/g, "");
  if (source.length > 200 || !/^[-+*/().\d]+$/.test(source) || !/\d[-+*/)]*[-+*/]\(*[-+]?\(*\d/.test(source))
    return undefined;
  let at = 0;

  const sum = (): number => {
    let value = product();
    while (source[at] === "+" || source[at] === "-") value += source[at++] === "+" ? product() : -product();
    return value;
  };
  const product = (): number => {
    let value = factor();
    while (source[at] === "*" || source[at] === "/") value = source[at++] === "*" ? value * factor() : value / factor();
    return value;
  };
  const factor = (): number => {
    if (source[at] === "-") {
      at += 1;
      return -factor();
    }
    if (source[at] === "(") {
      at += 1;
      const value = sum();
      if (source[at] !== ")") return Number.NaN;
      at += 1;
      return value;
    }
    const digits = /^\d+(?:\.\d+)?/.exec(source.slice(at))?.[0];
    if (digits === undefined) return Number.NaN;
    at += digits.length;
    return Number(digits);
  };

  const value = sum();
  if (at !== source.length || !Number.isFinite(value)) return undefined;
  // Beyond this the digits would be made up.
  const isExact = (source.match(/\d+/g) ?? []).every((digits) => digits.length <= 12) && Math.abs(value) < 1e12;
  if (!isExact) return undefined;
  return Number(value.toPrecision(12));
}
