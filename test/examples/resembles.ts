import { looksLike } from "../docs/blocks.ts";
import type { Received } from "../fakes/rpc/wire.ts";

/** Numbers that vary between runs. */
const measured: ReadonlySet<string> = new Set([
  "createdAt",
  "updatedAt",
  "timestamp",
  "durationMs",
  "inputTokens",
  "outputTokens",
  "used",
  "remaining",
  "retryAfterMs",
]);

/**
 * Whether this matches the page: the same keys in order, and the same values; within a text `…` matches any text, alone
 * anything, and as a list's only element for any elements.
 */
export function resembles(shown: unknown, sent: unknown, key = ""): boolean {
  if (shown === "…") return true;
  if (typeof shown === "string") return typeof sent === "string" && looksLike(shown, sent);
  if (typeof shown === "number") return measured.has(key) ? typeof sent === "number" : shown === sent;
  if (typeof shown !== "object" || shown === null) return shown === sent;
  if (typeof sent !== "object" || sent === null || Array.isArray(shown) !== Array.isArray(sent)) return false;
  if (Array.isArray(shown) && shown.length === 1 && shown[0] === "…") return true;
  const [expected, found] = [Object.entries(shown), Object.entries(sent)];
  return (
    expected.length === found.length &&
    expected.every(([name, value], at) => name === found[at]?.[0] && resembles(value, found[at]?.[1], name))
  );
}

/** A message, and the parts of it that the page shows separately. */
export function partsOf(message: Received): readonly unknown[] {
  const { params, result } = message;
  const uses = Array.isArray(params?.toolUses) ? (params.toolUses as readonly { readonly details: unknown }[]) : [];
  const queued = Array.isArray(result?.queuedMessages) ? result.queuedMessages : [];
  return [message, params?.notification, params, ...uses.map(({ details }) => details), ...queued];
}
