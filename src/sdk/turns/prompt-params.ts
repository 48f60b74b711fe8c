import type { PromptOptions } from "../api.ts";
import type { TurnResult } from "../types.ts";

/** A random UUID. Pages without https lack `crypto.randomUUID`. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // Version 4 and variant 1 mark a random UUID.
  const marked = [...bytes].map((byte, at) =>
    at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte,
  );
  const digits = marked.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** As it is sent, with the encoding of its data, which backends may insist on. */
export function promptParams(text: string, messageId: string, { images, files }: PromptOptions): object {
  const encodingOf = (file: { readonly mediaType: string }) => (file.mediaType === "text/plain" ? "text" : "base64");
  return {
    text,
    messageId,
    ...(images && { images: images.map((image) => ({ ...image, type: "base64" })) }),
    ...(files && { files: files.map((file) => ({ ...file, type: encodingOf(file) })) }),
  };
}

/** The result of a prompt that was stopped before it was sent. */
export function notRun(turnId: string): TurnResult {
  return { status: "interrupted", reason: "interrupted", text: "", turnId };
}
