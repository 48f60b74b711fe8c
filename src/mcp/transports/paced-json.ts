import type { Rest } from "../../async/long-texts.ts";
import { isNestedDeeper } from "../../text/json-size.ts";
import { ServerProblem } from "../server-problem.ts";

/** Up to this length, parsing at once is fast enough whatever the text. */
const plainBytes = 64 * 1024;
const pieceBytes = 64 * 1024;
/** Parsed, values take many times their text's memory. */
const mostValues = 200_000;
const mostDepth = 200;
/** Values between two looks at the clock. */
const stride = 256;

const code = { quote: 0x22, backslash: 0x5c, open: 0x7b, close: 0x7d, openList: 0x5b, closeList: 0x5d };
const [comma, colon, letterU] = [0x2c, 0x3a, 0x75];

class MalformedJson extends Error {}

/**
 * As `JSON.parse`, without blocking the event loop for long: a text of many megabytes with distinct keys takes
 * seconds. Rejects if the text is malformed, with a `ServerProblem` if it is nested too deep or has too many values. Drops keys named `__proto__`.
 */
export async function parseJson(bytes: Buffer, rest: Rest): Promise<unknown> {
  if (bytes.length > plainBytes) return new Reader(bytes, rest).whole();
  const text = bytes.toString("utf8");
  if (isNestedDeeper(text, mostDepth)) throw tooDeep();
  return JSON.parse(text);
}

function tooDeep(): ServerProblem {
  return new ServerProblem(`The server sent a message of more than ${mostDepth} levels.`);
}

class Reader {
  private readonly bytes: Buffer;
  private readonly rest: Rest;
  private at = 0;
  private values = 0;

  constructor(bytes: Buffer, rest: Rest) {
    this.bytes = bytes;
    this.rest = rest;
  }

  async whole(): Promise<unknown> {
    const value = await this.value(0);
    if (this.next() !== undefined) throw new MalformedJson("There is text after the JSON value.");
    return value;
  }

  private async value(depth: number): Promise<unknown> {
    this.values += 1;
    if (this.values > mostValues)
      throw new ServerProblem(`The server sent a message of more than ${mostValues} values.`);
    if (depth > mostDepth) throw tooDeep();
    if (this.values % stride === 0) await this.rest();
    const first = this.next();
    if (first === code.open) return this.object(depth);
    if (first === code.openList) return this.list(depth);
    if (first === code.quote) return this.text();
    return this.plain();
  }

  private async object(depth: number): Promise<Record<string, unknown>> {
    const object: Record<string, unknown> = {};
    this.at += 1;
    if (this.skips(code.close)) return object;
    do {
      if (this.next() !== code.quote) throw new MalformedJson("A key is missing.");
      const key = await this.text();
      if (!this.skips(colon)) throw new MalformedJson("A colon is missing.");
      const value = await this.value(depth + 1);
      if (key !== "__proto__") object[key] = value;
    } while (this.skips(comma));
    if (!this.skips(code.close)) throw new MalformedJson("An object is not closed.");
    return object;
  }

  private async list(depth: number): Promise<unknown[]> {
    const list: unknown[] = [];
    this.at += 1;
    if (this.skips(code.closeList)) return list;
    do list.push(await this.value(depth + 1));
    while (this.skips(comma));
    if (!this.skips(code.closeList)) throw new MalformedJson("A list is not closed.");
    return list;
  }

  /** Long texts are decoded in pieces that split no character and no escape. */
  private async text(): Promise<string> {
    const { bytes } = this;
    const parts: string[] = [];
    let start = this.at + 1;
    let end = start;
    let isEscaped = false;
    for (;;) {
      const byte = bytes[end];
      if (byte === undefined) throw new MalformedJson("A text is not closed.");
      if (byte === code.quote) break;
      const isPieceEnd = end - start >= pieceBytes && (byte & 0xc0) !== 0x80;
      if (isPieceEnd) {
        parts.push(this.decoded(start, end, isEscaped));
        [start, isEscaped] = [end, false];
        await this.rest();
      }
      if (byte === code.backslash) {
        isEscaped = true;
        end += bytes[end + 1] === letterU ? 6 : 2;
      } else end += 1;
    }
    this.at = end + 1;
    const last = this.decoded(start, end, isEscaped);
    return parts.length === 0 ? last : parts.join("") + last;
  }

  private decoded(start: number, end: number, isEscaped: boolean): string {
    const text = this.bytes.toString("utf8", start, end);
    return isEscaped ? (JSON.parse(`"${text}"`) as string) : text;
  }

  /** A number, `true`, `false` or `null`. */
  private plain(): unknown {
    const start = this.at;
    while (isPlain(this.bytes[this.at])) this.at += 1;
    if (this.at - start > 1000) throw new MalformedJson("A number is too long.");
    return JSON.parse(this.bytes.toString("latin1", start, this.at));
  }

  /** The next character that is not white space. */
  private next(): number | undefined {
    while (isSpace(this.bytes[this.at])) this.at += 1;
    return this.bytes[this.at];
  }

  private skips(character: number): boolean {
    if (this.next() !== character) return false;
    this.at += 1;
    return true;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isPlain(byte: number | undefined): boolean {
  if (byte === undefined || isSpace(byte)) return false;
  return byte !== comma && byte !== code.close && byte !== code.closeList;
}
