import { describe, expect, it } from "vitest";
import { fetchUrlTool } from "../../../src/tools/web/fetch-url.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";

const address = "https://example.com/page";

/** A page of these bytes as FetchUrl returns it, with the server's headers. */
async function textOf(body: Uint8Array, contentType: string): Promise<string> {
  const pages = { [address]: { body, contentType } };
  const { text } = await call(fetchUrlTool, { url: address }, createContext(createMemoryHost({}, { pages })));
  return text.slice(text.indexOf("\n\n") + 2);
}

const plain = (bytes: Uint8Array | string, label: string) =>
  textOf(typeof bytes === "string" ? Buffer.from(bytes, "hex") : bytes, `text/plain; charset=${label}`);

describe("FetchUrl, windows-1252", () => {
  // All visible characters: five of these bytes are controls, and 0xAD is an invisible hyphen.
  const unseen = [0x81, 0x8d, 0x8f, 0x90, 0x9d, 0xad];
  const high = Buffer.from(span([0x80, 0xff]).filter((byte) => !unseen.includes(byte)));
  const asInLatin = Buffer.from(high.filter((byte) => byte >= 0xa0)).toString("latin1");

  it.each(["windows-1252", "ISO-8859-1", "iso8859-1", "latin1", "L1", "ascii", "us-ascii", "cp1252", "x-cp1252"])(
    "reads all of it under the label %s",
    async (label) => {
      expect(await plain(high, label)).toBe(`€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ${asInLatin}`);
    },
  );

  it("reads it in pages that declare it themselves", async () => {
    const words = Buffer.from("<p>\x93It\x92s 5 \x80\x94 \x96 caf\xe9\x85</p>", "latin1");
    const said = (head: string) => textOf(Buffer.concat([Buffer.from(head), words]), "text/html");
    expect([
      await said("<meta charset=iso-8859-1>"),
      await said('<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">'),
    ]).toEqual(["“It’s 5 €” – café…", "“It’s 5 €” – café…"]);
  });
});

describe("FetchUrl, other encodings", () => {
  it.each([
    ["iso-8859-2", "ae6c75bb6f75e86bfd206bf9f22c20a3f364bc", "Žluťoučký kůň, Łódź"],
    ["iso-8859-15", "bc7576726520e0203520a42c20b469b86b61", "Œuvre à 5 €, Žižka"],
    ["windows-1250", "8450f8ed6c699a9320962035208085", "„Příliš“ – 5 €…"],
    ["windows-1251", "abcff0e8e2e5f2bb209720b9312c208088", "«Привет» — №1, Ђ€"],
    ["koi8-r", "f0d2c9d7c5d42c20b3d6", "Привет, Ёж"],
    ["shift_jis", "93fa967b8cea83658358836720b6c520874081605c7e", "日本語テスト ｶﾅ ①～\\~"],
    ["euc-jp", "c6fccbdcb8eca5c6a5b9a5c8a1a2b4c1bbfaada1", "日本語テスト、漢字①"],
    ["iso-2022-jp", "1b2442467c4b5c386c1b2842", "日本語"],
    ["gb18030", "d6d0cec420a2e38139ee399439fc36", "中文 €㐀😀"],
    ["gb2312", "bcf2cce5d6d0cec4", "简体中文"],
    ["big5", "c163c5e9a4a4a4e5a141b4fab8d5", "繁體中文，測試"],
    ["euc-kr", "c7d1b1b9beee208c63b9e6b0a2c7cf20bc84bdc320a2e620a2e7", "한국어 똠방각하 펲시 € ®"],
    ["ks_c_5601-1987", "94ee20c16420c652208141", "뷁 햏 힣 갂"],
    ["utf-16", "67007200fc00df002000ac203dd800de", "grüß €😀"],
    ["utf-16le", "67007200fc00df002000ac203dd800de", "grüß €😀"],
    ["utf-16be", "0067007200fc00df002020acd83dde00", "grüß €😀"],
  ])("%s", async (label, bytes, text) => {
    expect(await plain(bytes, label)).toBe(text);
  });

  it("knows every Korean syllable once, the added ones in Unicode order", async () => {
    const pairsOf = (leads: readonly [number, number], trails: readonly (readonly [number, number])[]) =>
      span(leads).flatMap((lead) => trails.flatMap((range) => span(range).map((trail) => [lead, trail])));
    const letters = [
      [0x41, 0x5a],
      [0x61, 0x7a],
    ] as const;
    const standard = pairsOf([0xb0, 0xc8], [[0xa1, 0xfe]]);
    const before = pairsOf([0x81, 0xa0], [...letters, [0x81, 0xfe]]);
    const beside = pairsOf([0xa1, 0xc6], [...letters, [0x81, 0xa0]]);
    const last = beside.findIndex(([lead, trail]) => lead === 0xc6 && trail === 0x52);
    const added = await plain(Buffer.from([...before, ...beside.slice(0, last + 1)].flat()), "euc-kr");
    const first = await plain(Buffer.from(standard.flat()), "euc-kr");
    const all = span([0xac00, 0xd7a3]).map((code) => String.fromCharCode(code));
    expect([...added, ...first].sort()).toEqual(all);
    expect([...added].sort().join("")).toBe(added);
  });

  it.each([
    ["81", "\ufffd"],
    ["813c62", "\ufffd<b"],
    ["c653", "\ufffdS"],
    ["c9413e", "\ufffdA>"],
    ["80b0a1", "\ufffd가"],
    ["ffb0a1", "\ufffd가"],
    ["8180b0a1", "\ufffd가"],
    ["1a418c631ab0a1", "A똠가"],
  ])("euc-kr, %s: an invalid pair consumes nothing else", async (bytes, text) => {
    expect(await plain(bytes, "euc-kr")).toBe(text);
  });
});

function span([from, to]: readonly [number, number]): number[] {
  return Array.from({ length: to - from + 1 }, (_, nth) => from + nth);
}
