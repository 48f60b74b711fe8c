import type { Usage } from "../message.ts";
import type { Prices } from "../ports.ts";

/** Cost in dollars. Cache reads and writes count as normal input unless they have their own prices. */
export function costOf(usage: Usage, prices: Prices): number {
  const { input, output, cacheRead = input, cacheWrite = input } = prices;
  const sum = usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite;
  return sum / 1_000_000;
}
