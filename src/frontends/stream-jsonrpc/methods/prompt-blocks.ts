import type { PromptBlock } from "../../../engine/message.ts";
import type { AddUserMessageParams } from "../../../protocol/droid/params.ts";
import { BadRequest } from "../rpc-failure.ts";

/**
 * A message's blocks: images and files first, the user's text last. Throws if an attachment's data does not match its
 * type.
 */
export function promptBlocks({ text, images = [], files = [] }: AddUserMessageParams): readonly PromptBlock[] {
  return [
    ...images.map(({ mediaType, data }, index): PromptBlock => {
      const bytes = decoded(data, `images.${index}`);
      if (!looksLike(mediaType, bytes)) throw new BadRequest("params", `images.${index}: the data is not ${mediaType}`);
      return { type: "image", mediaType, data };
    }),
    ...files.map((file, index): PromptBlock => {
      const named = file.name === undefined ? {} : { name: file.name };
      const { mediaType, data } = file;
      if (mediaType === "text/plain") return { type: "document", mediaType, encoding: "text", data, ...named };
      if (!looksLike(mediaType, decoded(data, `files.${index}`))) {
        throw new BadRequest("params", `files.${index}: the data is not a PDF`);
      }
      return { type: "document", mediaType, encoding: "base64", data, ...named };
    }),
    { type: "text", text },
  ];
}

/** Decodes the first bytes after validating the whole text. */
function decoded(data: string, where: string): Buffer {
  if (data === "" || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    throw new BadRequest("params", `${where}: the data is not valid base64`);
  }
  return Buffer.from(data.slice(0, 64), "base64");
}

const beginnings: Readonly<Record<string, readonly string[]>> = {
  "image/png": ["\x89PNG\r\n\x1a\n"],
  "image/jpeg": ["\xff\xd8\xff"],
  "image/gif": ["GIF87a", "GIF89a"],
  "image/webp": ["RIFF"],
  "application/pdf": ["%PDF-"],
};

function looksLike(mediaType: string, bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  return beginnings[mediaType]?.some((beginning) => text.startsWith(beginning)) ?? false;
}
