import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResourceResource } from "@agentclientprotocol/sdk";
import type { PromptOptions } from "../../../sdk/api.ts";
import { badParams } from "../rpc-errors.ts";

export interface PromptInput {
  readonly text: string;
  readonly images: NonNullable<PromptOptions["images"]>;
  readonly files: NonNullable<PromptOptions["files"]>;
}

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/**
 * A prompt in the backend's form. Mentions stay where they were in the text, and their contents follow it. Throws for
 * content that cannot be sent.
 */
export function promptInput(blocks: readonly ContentBlock[]): PromptInput {
  const words: string[] = [];
  const contexts: string[] = [];
  const images: { mediaType: string; data: string }[] = [];
  const files: { mediaType: "application/pdf"; data: string; name?: string }[] = [];

  function image(mediaType: string, data: string): void {
    if (!imageTypes.includes(mediaType)) {
      throw badParams(`Unsupported image type ${mediaType}. Supported: ${imageTypes.join(", ")}.`);
    }
    images.push({ mediaType, data });
  }

  function resource(given: EmbeddedResourceResource): void {
    const name = shownUri(given.uri);
    if ("text" in given) {
      words.push(`@${name}`);
      contexts.push(`<context ref="${name.replaceAll('"', "%22")}">\n${unframed(given.text)}\n</context>`);
      return;
    }
    const mediaType = given.mimeType ?? "";
    if (mediaType.startsWith("image/")) {
      image(mediaType, given.blob);
    } else if (mediaType === "application/pdf") {
      words.push(`@${name}`);
      files.push({ mediaType, data: given.blob, name: name.split("/").at(-1) ?? name });
    } else {
      throw badParams(`Unsupported resource type ${mediaType || "unknown"} (${name}).`);
    }
  }

  for (const block of blocks) {
    switch (block.type) {
      case "text":
        words.push(block.text);
        break;
      case "image":
        image(block.mimeType, block.data);
        break;
      case "resource_link":
        words.push(`@${shownUri(block.uri)}`);
        break;
      case "resource":
        resource(block.resource);
        break;
      case "audio":
        throw badParams("Audio is not supported.");
    }
  }
  const text = [joined(words), ...contexts].join("\n\n");
  if (text.trim() === "" && images.length + files.length === 0) throw badParams("The prompt is empty.");
  return { text, images, files };
}

/** Blocks are pieces of one text, cut at mentions, so a space is added only where words would touch. */
function joined(words: readonly string[]): string {
  return words.reduce((text, next) => {
    const touches = /\S$/.test(text) && /^[\p{L}\p{N}@]/u.test(next);
    return touches ? `${text} ${next}` : `${text}${next}`;
  }, "");
}

/** Escapes tags with which a resource could end its frame or pose as a reminder. */
function unframed(text: string): string {
  return text.replace(/<(?=\s*(?:\/\s*)?(?:context|system-reminder)\b)/gi, "&lt;");
}

/** A file as a path, which the tools can read; any other URI unchanged. On one line. */
function shownUri(uri: string): string {
  return unframed(pathOf(uri)).replace(/\p{Cc}/gu, encodeURIComponent);
}

function pathOf(uri: string): string {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri.split(/[#?]/, 1)[0] ?? "") : uri;
  } catch {
    return uri;
  }
}
