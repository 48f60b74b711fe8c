/** Finds the file and folder names in a sentence. */
import { letters, quotedSpans, wordSet } from "./words.ts";

const namedFiles =
  "Makefile|Dockerfile|LICENSE|LICENCE|README|CHANGELOG|NOTICE|Procfile|Gemfile|Rakefile|Vagrantfile|Justfile";

/**
 * A name with an ending (`notes/to-do.md`), a dot file, or one of the well-known names without an ending. Every repetition is
 * bounded, so that no text makes the search slow.
 */
export const fileName = String.raw`(?:(?:[${letters}_.@~+\-]{0,60}[\/\\]){0,12}(?:[${letters}_@~+\-.]{0,60}[${letters}_)\-]\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_\/])|\.[A-Za-z][\w.\-]{0,60}|(?:${namedFiles})\b))`;

/** What may stand where a path is expected: quoted, or without spaces and sentence marks. */
export const anyPath = String.raw`(?:"[^"]{1,300}"|'[^']{1,300}'|${"`"}[^${"`"}]{1,300}${"`"}|“[^”]{1,300}”|「[^」]{1,300}」|${fileName}|[${letters}_.@~+\-\/\\]{0,300}[${letters}_\/])`;

/** The same in a text without spaces, where a name ends with its letters. */
export const zhPath = String.raw`(?:"[^"]{1,300}"|“[^”]{1,300}”|「[^」]{1,300}」|${"`"}[^${"`"}]{1,300}${"`"}|[\w.@~+\-\/]{0,120}[\w\-]\.[A-Za-z][A-Za-z0-9]{0,9}|[${letters}_@~+\-\/]{0,60}\.[A-Za-z][A-Za-z0-9]{0,9}|[\w@~+\-\/]{1,120})`;

const fileNameOnly = new RegExp(`^${fileName}$`);
const fileNameAnywhere = new RegExp(fileName, "g");

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

/** The one word with a slash in it, which may name a file without an ending: `/etc/hosts`, `src/bin/tool`. */
export function solePath(text: string): FoundPath | undefined {
  if (!text.includes("/")) return undefined;
  const [match, ...others] = [...text.matchAll(/(?<![\w.@~+\-:/])(?:[\w.@~+-]+|)\/[\w.@~+\-/]*[\w@~+-](?![\w/])/g)];
  if (match === undefined || others.length > 0) return undefined;
  return { path: match[0], rest: `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}` };
}

/** A path without quotes around it and without a sentence's end after it. */
export function cleanPath(text: string): string {
  const trimmed = text.trim();
  const quoted = /^["'`“「](.*)["'`”」]$/.exec(trimmed);
  return quoted?.[1] ?? trimmed.replace(/(?<=.)[.,;:!?。，；：！？]+$/, "");
}

const folderWords = wordSet(
  "a an all any are at be can content contents current do does each every everything exist file files folder folders directory directories dir for from full have here i in inside is it its just list me my named now of on our please present see show some that the their them there these they this to under us we what which with within working you your repo repository project workspace root cwd detail details order general particular french english",
);

/** Whether a word that stands where a folder may stand is none. */
export function isFolderWord(word: string): boolean {
  return folderWords.has(word.toLowerCase());
}
