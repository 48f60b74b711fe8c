import type { Rest } from "../../async/long-texts.ts";
import type { ImageBlock } from "../../engine/message.ts";
import type { ToolOutput } from "../../engine/tool.ts";
import { outputLimit } from "../../text/output.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../../text/values.ts";
import { shownLine } from "../server-problem.ts";

/** An image that every provider accepts, or the reason it is not: completes "it cannot be shown: …". */
export type CheckImage = (bytes: Buffer) => Promise<{ readonly block: ImageBlock } | { readonly why: string }>;

/** Images of one result. Each stays in the conversation. */
const mostImages = 20;
const mostImageCharacters = 10 * 1024 * 1024;
const mostItems = 10_000;
/** The engine keeps the start and the end of longer texts, and measures them at once. */
const mostText = 4 * 1024 * 1024;

/** A call's result for the model and the clients. Never rejects for content of the server. */
export async function resultOf(result: Fields, checkImage: CheckImage, rest: Rest): Promise<ToolOutput> {
  const { texts, media } = await partsOf(listOf(result.content), checkImage, rest);
  const hasText = texts.some((text) => text.trim() !== "");
  if (!hasText && media.length === 0 && result.structuredContent !== undefined) {
    texts.push(await structuredText(result.structuredContent, rest));
  }
  const text = joined(texts) || (media.length > 0 ? "" : "The tool returned nothing.");
  const isError = result.isError === true;
  return {
    text: isError ? `Error: ${text}` : text,
    status: isError ? "failed" : "ok",
    ...(media.length === 0 ? {} : { media }),
  };
}

interface Parts {
  readonly texts: string[];
  readonly media: ImageBlock[];
}

/** The parts of a result, a prompt or a resource. */
export async function partsOf(content: readonly unknown[], checkImage: CheckImage, rest: Rest): Promise<Parts> {
  const parts: Parts = { texts: [], media: [] };
  const room = { characters: mostImageCharacters };
  let length = 0;
  for (const item of content.slice(0, mostItems)) {
    const before = parts.texts.length;
    await addPart(fieldsOf(item), parts, checkImage, room);
    for (const text of parts.texts.slice(before)) length += text.length;
    if (length > mostText) {
      parts.texts.push("[The rest of the result is too long, and was left out.]");
      return parts;
    }
    await rest();
  }
  if (content.length > mostItems) parts.texts.push(`[${content.length - mostItems} more parts were left out.]`);
  return parts;
}

async function addPart(
  part: Fields,
  { texts, media }: Parts,
  checkImage: CheckImage,
  room: { characters: number },
): Promise<void> {
  const { type } = part;
  if (type === "text") texts.push(bounded(textOf(part.text) ?? ""));
  else if (type === "image") texts.push(...(await addImage(part, media, checkImage, room)));
  else if (type === "audio") texts.push(blobLine("audio", part.mimeType, part.data));
  else if (type === "resource_link") texts.push(linkLine(part));
  else if (type === "resource") {
    const resource = fieldsOf(part.resource);
    const text = textOf(resource.text);
    const name = shownLine(textOf(resource.uri) ?? "a resource");
    if (text !== undefined) texts.push(`[${name}]\n${bounded(text)}`);
    else if (/^image\//.test(textOf(resource.mimeType) ?? "")) {
      texts.push(`[${name}]`, ...(await addImage({ ...resource, data: resource.blob }, media, checkImage, room)));
    } else texts.push(`[${name}] ${blobLine("a file", resource.mimeType, resource.blob)}`);
  } else texts.push(`[A part of an unknown type: ${shownLine(textOf(type) ?? "none", 50)}]`);
}

/** A note if the image cannot be shown. */
async function addImage(
  { data, mimeType }: Fields,
  media: ImageBlock[],
  checkImage: CheckImage,
  room: { characters: number },
): Promise<readonly string[]> {
  const base64 = textOf(data) ?? "";
  const left = (why: string): readonly string[] => [
    `${blobLine("an image", mimeType, data)} It cannot be shown: ${why}.`,
  ];
  if (media.length >= mostImages) return left(`a result can have ${mostImages} images`);
  if (base64.length > room.characters) return left("the images of this result are too large");
  const image = await checkImage(Buffer.from(base64, "base64"));
  if ("why" in image) return left(image.why);
  room.characters -= base64.length;
  media.push(image.block);
  return [];
}

function blobLine(what: string, mimeType: unknown, data: unknown): string {
  const kind = shownLine(textOf(mimeType) ?? "unknown type", 80);
  const bytes = Math.floor((textOf(data)?.length ?? 0) * 0.75);
  return `[${what}: ${kind}, about ${bytes} bytes.]`;
}

function linkLine({ uri, name, description, mimeType, size }: Fields): string {
  const words = [textOf(name), textOf(description), textOf(mimeType), bytesWords(size)];
  const told = words.filter((word) => word !== undefined && word !== "").map((word) => shownLine(word ?? ""));
  return `[Resource ${shownLine(textOf(uri) ?? "without address", 500)}${told.length === 0 ? "" : ` (${told.join(", ")})`}]`;
}

function bytesWords(size: unknown): string | undefined {
  const bytes = numberOf(size);
  return bytes === undefined ? undefined : `${bytes} bytes`;
}

async function structuredText(value: unknown, rest: Rest): Promise<string> {
  const text = JSON.stringify(value) ?? "";
  await rest();
  return text.length <= outputLimit / 4 ? JSON.stringify(value, null, 2) : bounded(text);
}

function bounded(text: string): string {
  return (text.length <= mostText ? text : text.slice(0, mostText)).toWellFormed();
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}
