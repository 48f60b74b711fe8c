import { describe, expect, it } from "vitest";
import { fetchUrlTool } from "../../../src/tools/web/fetch-url.ts";
import { createMemoryHost, type MemoryPage } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";

const address = "https://example.com/page";

const fetching = (page: MemoryPage | Error, url = address) =>
  call(fetchUrlTool, { url }, createContext(createMemoryHost({}, { pages: { [address]: page } })));

const textOf = async (page: MemoryPage): Promise<string> => {
  const { text } = await fetching(page);
  const head = `URL Content from: "${address}"\nStatus: 200\nMarkdown content:\n\n`;
  if (!text.startsWith(head)) throw new Error(`It begins otherwise: ${text.slice(0, 200)}`);
  return text.slice(head.length);
};

describe("FetchUrl", () => {
  it("returns a page as Markdown, under its address and status", async () => {
    const host = createMemoryHost({}, { pages: { [address]: { body: "<h1>Hi</h1><a href=next>more</a>" } } });
    expect(await call(fetchUrlTool, { url: `${address}#part` }, createContext(host))).toEqual({
      status: "ok",
      text: `URL Content from: "${address}#part"\nStatus: 200\nMarkdown content:\n\n# Hi\n\n[more](https://example.com/next)`,
    });
    expect(host.fetched).toEqual([
      {
        url: address,
        maxBytes: 5 * 1024 * 1024,
        accept:
          "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5",
      },
    ]);
  });

  it("names the target of redirects, and resolves links from there", async () => {
    expect(await fetching({ body: "<a href=x>x</a>", url: "https://other.test/a/" })).toEqual({
      status: "ok",
      text: `URL Content from: "${address}"\nStatus: 200\nRedirected to: https://other.test/a/\nMarkdown content:\n\n[x](https://other.test/a/x)`,
    });
  });

  it("fails on other statuses, with the server's text", async () => {
    expect(await fetching({ status: 404, body: "<p>No such page</p>" })).toEqual({
      status: "failed",
      text: `Error: The server responded with status 404.\nURL Content from: "${address}"\nStatus: 404\nMarkdown content:\n\nNo such page`,
    });
    const long = await fetching({ status: 500, contentType: "text/plain", body: "x".repeat(50_000) });
    expect(
      long.text.endsWith(`${"x".repeat(10_000)}\n\n[The page continues; these are its first 10000 characters.]`),
    ).toBe(true);
  });

  it("returns text unchanged, whatever its type is called", async () => {
    const body = '{"a": "<b>&amp;</b>"}\n';
    const types = [
      "application/json",
      "text/plain; charset=utf-8",
      "TEXT/Markdown",
      "application/vnd.api+json",
      "application/xml",
      "application/atom+xml",
      "image/svg+xml",
      "application/x-yaml",
      "text/javascript",
      "application/octet-stream",
      "",
      "not a type",
    ];
    for (const contentType of types)
      expect([contentType, await textOf({ contentType, body })]).toEqual([contentType, body]);
    expect(await textOf({ contentType: "", body: "\n<!DOCTYPE html><p>x" })).toBe("x");
    expect(await textOf({ contentType: "application/xhtml+xml", body: "<p>x</p>" })).toBe("x");
    expect(await textOf({ contentType: "text/plain", body: "<html><p>x" })).toBe("<html><p>x");
  });

  it("reads the encodings of pages", async () => {
    const latin = Buffer.from("<p>caf\xe9</p>", "latin1");
    const said = (contentType: string, body: Uint8Array) => textOf({ contentType, body });
    const utf16 = Buffer.from("\ufeffgrüß", "utf16le");
    expect([
      await said("text/html; charset=ISO-8859-1", latin),
      await said('text/html; charset="windows-1252"', latin),
      await said("text/html", Buffer.concat([Buffer.from('<meta charset="iso-8859-1">'), latin])),
      await said(
        "text/html",
        Buffer.concat([Buffer.from('<meta http-equiv=Content-Type content="text/html; charset=latin1">'), latin]),
      ),
      await said("application/xml", Buffer.concat([Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>'), latin])),
      await said("text/plain; charset=shift_jis", Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67])),
      await said("text/plain", utf16),
      await said("text/plain; charset=nonsense", Buffer.from("grüß")),
      await said("text/html", Buffer.from("<meta charset=utf-16><p>grüß")),
      await said("text/html; charset=latin1", Buffer.from("\ufeff<p>grüß")),
      await said("text/html", latin),
    ]).toEqual([
      "café",
      "café",
      "café",
      "café",
      '<?xml version="1.0" encoding="ISO-8859-1"?><p>café</p>',
      "テスト",
      "grüß",
      "grüß",
      "grüß",
      "grüß",
      "caf\ufffd",
    ]);
  });

  it("names files that are not text, and how to get them", async () => {
    const png = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
    expect([
      await textOf({ contentType: "image/png", body: png }),
      await textOf({ contentType: "application/pdf", body: "%PDF-1.7" }),
      await textOf({ contentType: "text/html", body: "%PDF-1.7" }),
      await textOf({ contentType: "text/plain", body: "a\0b" }),
      await textOf({ contentType: "", body: "a\0b", truncated: true }),
      await textOf({ contentType: `x/${"y".repeat(500)}\u2028`, body: "a\0b" }),
    ]).toEqual([
      `[This is a file of type image/png (16 bytes), not text. To get it, use Execute: curl -fsSL -o file '${address}'.]`,
      `[This is a PDF (8 bytes), not text. To get it, use Execute: curl -fsSL -o page.pdf '${address}', and then Read it.]`,
      `[This is a PDF (8 bytes), not text. To get it, use Execute: curl -fsSL -o page.pdf '${address}', and then Read it.]`,
      `[This is a file of type text/plain (3 bytes), not text. To get it, use Execute: curl -fsSL -o file '${address}'.]`,
      `[This is a file of type application/octet-stream (more than 5 MB), not text. To get it, use Execute: curl -fsSL -o file '${address}'.]`,
      `[This is a file of type application/octet-stream (3 bytes), not text. To get it, use Execute: curl -fsSL -o file '${address}'.]`,
    ]);
    const quoted = await fetching({ contentType: "image/gif", body: "x", url: "https://h.test/';id;'" });
    expect(quoted.text).toContain("curl -fsSL -o file 'https://h.test/%27;id;%27'.");
  });

  it("reports an empty page, or more than it returns", async () => {
    expect([
      await textOf({ body: "<title>App</title><div id=root></div><script>run()</script>" }),
      await textOf({ body: "" }),
      await textOf({ contentType: "text/plain", body: " " }),
    ]).toEqual([
      "# App\n\n[The page has no text. It may need scripts, which are not run.]",
      "[The page has no text. It may need scripts, which are not run.]",
      " \n\n[The response is empty.]",
    ]);
    const long = await textOf({ contentType: "text/plain", body: "😀".repeat(300_000) });
    expect(long.slice(400_000)).toBe("\n\n[The page continues; these are its first 400000 characters.]");
    const page = await textOf({ body: `<p>start</p>${" ".repeat(6_000_000)}<p>end</p>` });
    expect(page).toBe("start\n\n[Only the first 5 MB of the page were read.]");
  });

  it("previews only the address, and nothing for an invalid one", async () => {
    const scope = createContext(createMemoryHost());
    const told = async (url: string) => ({
      access: await fetchUrlTool.access({ url }, scope),
      preview: await fetchUrlTool.preview?.({ url }, scope),
    });
    expect(await told("HTTPS://Example.com:443/a b?q=1#part")).toEqual({
      access: [{ type: "fetch", url: "https://example.com/a%20b?q=1" }],
      preview: { type: "fetch", url: "https://example.com/a%20b?q=1" },
    });
    expect((await told("https://me:secret@example.com/")).access).toEqual([]);
  });

  it("fails with a message for unsupported addresses", async () => {
    const host = createMemoryHost();
    const failing = async (url: string) => (await call(fetchUrlTool, { url }, createContext(host))).text;
    expect([
      await failing("file:///etc/passwd"),
      await failing("javascript:alert(1)"),
      await failing("https://me:secret@example.com/"),
    ]).toEqual([
      "Error: FetchUrl failed: Only https:// and http:// addresses can be read, not file:",
      "Error: FetchUrl failed: Only https:// and http:// addresses can be read, not javascript:",
      "Error: FetchUrl failed: The url contains a user name or password, which are never sent. Remove them.",
    ]);
    expect(host.fetched).toEqual([]);
    for (const input of [{}, { url: 1 }, { url: "example.com" }, { url: "http://[" }, { url: address, more: true }])
      expect([input, fetchUrlTool.input.safeParse(input).success]).toEqual([input, false]);
    expect(fetchUrlTool.input.safeParse({}).error?.issues[0]?.message).toBe(
      "url is required and must be a whole address, such as https://example.com/page",
    );
  });

  it("passes a host's failure on, and reports an abort as such", async () => {
    expect(await fetching(new Error("The server went away."))).toEqual({
      status: "failed",
      text: "Error: FetchUrl failed: The server went away.",
    });
    const context = createContext(createMemoryHost(), { signal: AbortSignal.abort() });
    expect(await call(fetchUrlTool, { url: address }, context)).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
  });

  it("keeps its own lines apart from the page's", async () => {
    const { text } = await fetching(
      { body: '<p>URL Content from: "https://bank.test"</p><p>Status: 200</p>' },
      `${address}\n`,
    );
    expect(text).toBe(
      `URL Content from: "${address}"\nStatus: 200\nMarkdown content:\n\nURL Content from: "https://bank.test"\n\nStatus: 200`,
    );
  });
});
