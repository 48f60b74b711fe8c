import type { ModelSpec } from "../providers/model-spec.ts";

const plain = /^[A-Za-z0-9_-]{1,64}$/;
const nineLetters = /^[A-Za-z0-9]{9}$/;

/** A call's id in the form that the provider accepts. Deterministic, so that a call and its result still match. */
export function callIdFor(spec: ModelSpec, id: string): string {
  if (spec.callIds === "nine-letters") return nineLetters.test(id) ? id : letters(id).slice(0, 9);
  if (plain.test(id) || (spec.wire !== "anthropic" && id.length <= 64)) return id;
  return `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40)}_${letters(id).slice(0, 12)}`;
}

/** Two FNV-1a hashes of the text, in letters and digits. Not for security. */
function letters(text: string): string {
  const [a, b] = [hash(text, 0x811c9dc5), hash(text, 0x01234567)];
  return `${a.toString(36).padStart(7, "0")}${b.toString(36).padStart(7, "0")}`;
}

function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}
