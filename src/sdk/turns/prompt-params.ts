import type { PromptOptions } from "../api.ts";

/** A prompt as it goes out, with the word for how its data is written, which backends may insist on. */
export function promptParams(text: string, messageId: string, { images, files }: PromptOptions): object {
  const written = (file: { readonly mediaType: string }) => (file.mediaType === "text/plain" ? "text" : "base64");
  return {
    text,
    messageId,
    ...(images && { images: images.map((image) => ({ ...image, type: "base64" })) }),
    ...(files && { files: files.map((file) => ({ ...file, type: written(file) })) }),
  };
}
