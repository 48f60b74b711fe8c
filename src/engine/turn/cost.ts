import type { Usage } from "../message.ts";
import type { Prices } from "../ports.ts";

/** Dollars. What is read from a cache or written to it costs as much as other input, where no price is given for it. */
export function costOf(usage: Usage, prices: Prices): number {
  const { input, output, cacheRead = input, cacheWrite = input } = prices;
  const sum = usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite;
  return sum / 1_000_000;
}
