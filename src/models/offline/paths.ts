/** Finds the file and folder names in a sentence. */
import { quotedSpans } from "./words.ts";

const namedFiles =
  "Makefile|Dockerfile|LICENSE|LICENCE|README|CHANGELOG|NOTICE|Procfile|Gemfile|Rakefile|Vagrantfile|Justfile";

/** A name with an ending (`notes/to-do.md`), a dot file, or one of the well-known names without an ending. */
export const fileName = String.raw`(?:(?:[\p{L}\p{N}_.@~+\-]*[\/\\])*(?:[\p{L}\p{N}_@~+\-.]*[\p{L}\p{N}_)\-]\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_\/])|\.[A-Za-z][\w.\-]*|(?:${namedFiles})\b))`;

/** What may stand where a path is expected: quoted, or without spaces and sentence marks. */
export const anyPath = String.raw`(?:"[^"]+"|'[^']+'|${"`"}[^${"`"}]+${"`"}|“[^”]+”|「[^」]+」|${fileName}|[\p{L}\p{N}_.@~+\-\/\\]*[\p{L}\p{N}_\/])`;

const fileNameOnly = new RegExp(`^${fileName}$`, "u");
const fileNameAnywhere = new RegExp(fileName, "gu");

export function isFileName(text: string): boolean {
  return fileNameOnly.test(text);
}

export interface FoundPath {
  readonly path: string;
  /** The text without the path. */
  readonly rest: string;
}

/** The one file that a text names; `undefined` when it names none or several. */
export function soleFile(text: string): FoundPath | undefined {
  for (const span of quotedSpans(text)) {
    if (isFileName(span.inner) || /[\\/]/.test(span.inner)) {
      return { path: span.inner, rest: `${text.slice(0, span.start)} ${text.slice(span.end)}` };
    }
  }
  const ascii = [...text.matchAll(/[\w.@~+\-/\\]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])/g)];
  const found = ascii.length > 0 ? ascii : [...text.matchAll(fileNameAnywhere)];
  const [match, ...others] = found;
  if (match === undefined || others.length > 0) return undefined;
  return { path: match[0], rest: `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}` };
}

/** A path without quotes around it and without a sentence's end after it. */
export function cleanPath(text: string): string {
  const trimmed = text.trim();
  const quoted = /^["'`“「](.*)["'`”」]$/u.exec(trimmed);
  return quoted?.[1] ?? trimmed.replace(/(?<=.)[.,;:!?。，；：！？]+$/u, "");
}
