import type { WebPage } from "../../engine/ports.ts";
import { decodeText, encodingOfLabel } from "./web-encoding.ts";

/** A page's type and content. */
type PageText =
  | { readonly isHtml: boolean; readonly text: string }
  /** Not text. Its type is only a media type. */
  | { readonly type: string };

const sniffedBytes = 8192;
const textTypes =
  /^(?:text\/.*|application\/(?:.*[+-])?(?:json|xml|yaml|toml|javascript|ecmascript|typescript|graphql|sql|sh|ndjson|jsonl|json5|x-www-form-urlencoded)|.*\+(?:json|xml|yaml))$/;
const htmlTypes: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
/** Types that servers send for unknown files. */
const unknownTypes: ReadonlySet<string> = new Set([
  "",
  "application/octet-stream",
  "binary/octet-stream",
  "unknown/unknown",
]);

/** Trusts the server's type, as far as the bytes agree. */
export function readPage({ body, contentType }: WebPage): PageText {
  const [said = ""] = contentType.toLowerCase().split(";", 1);
  const type = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,100})\s*$/.exec(said)?.[1] ?? "";
  const start = Buffer.from(body.subarray(0, sniffedBytes)).toString("latin1");
  if (type === "application/pdf" || start.startsWith("%PDF-")) return { type: "application/pdf" };
  if (!unknownTypes.has(type) && !textTypes.test(type) && !htmlTypes.has(type)) return { type };
  const encoding = encodingOf(start, contentType);
  if (!encoding.startsWith("utf-16") && start.includes("\0"))
    return { type: type === "" ? "application/octet-stream" : type };
  const text = decodeText(body, encoding);
  const looksHtml = /^\s*(?:<!doctype html|<html|<head|<body)/i.test(text.slice(0, sniffedBytes));
  return { isHtml: htmlTypes.has(type) || (unknownTypes.has(type) && looksHtml), text };
}

/** From the byte order mark, the server, or the page itself; otherwise UTF-8. */
function encodingOf(start: string, contentType: string): string {
  if (start.startsWith("\xef\xbb\xbf")) return "utf-8";
  if (start.startsWith("\xff\xfe")) return "utf-16le";
  if (start.startsWith("\xfe\xff")) return "utf-16be";
  const said = /;\s*charset\s*=\s*["']?([\w.:+-]+)/i.exec(contentType)?.[1];
  const declared = /<(?:meta|\?xml)\s[^>]{0,1000}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:+-]+)/i.exec(start)?.[1];
  const [outer, inner] = [said, declared].map((label) => (label === undefined ? undefined : encodingOfLabel(label)));
  return outer ?? asRead(inner) ?? "utf-8";
}

/** A UTF-16 page could not have been read this far. */
function asRead(encoding: string | undefined): string | undefined {
  return encoding?.startsWith("utf-16") ? "utf-8" : encoding;
}
