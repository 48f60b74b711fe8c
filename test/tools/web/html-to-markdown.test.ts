import { describe, expect, it } from "vitest";
import { htmlToMarkdown } from "../../../src/tools/web/html-to-markdown.ts";

const url = "https://example.com/guide/page.html?x=1";
const limit = 400_000;
const markdown = async (html: string, from = url): Promise<string> =>
  (await htmlToMarkdown(html, { url: from, limit })).markdown;
const lines = (...text: readonly string[]): string => text.join("\n");

describe("the text of a page", () => {
  it("is paragraphs, with white space as displayed", async () => {
    expect(
      await markdown("<p>One\n   two\t three<p>four &amp; f&eacute;&nbsp;&#x76;e <br> next<div>six</div>  seven "),
    ).toBe(lines("One two three", "", "four & fé ve", "next", "", "six", "", "seven"));
  });

  it("has headings, with its title above if the first one is missing", async () => {
    expect(await markdown("<head><title>A &lt;page&gt;\n of mine</title></head><h2>Part</h2>text<h6>deep</h6>")).toBe(
      lines("# A <page> of mine", "", "## Part", "", "text", "", "###### deep"),
    );
    expect(await markdown("<title>T</title><h1><div>My</div><div><b>page</b></div></h1>text")).toBe(
      "# My page\n\ntext",
    );
    expect(await markdown('<h2 id=a>Use <a href="#a">¶</a></h2><h2><a href="#b">#</a> It</h2><h3></h3>')).toBe(
      lines("## Use", "", "## It"),
    );
    expect(await markdown("<h2>not closed<p>text<h3>one<h4>two")).toBe("## not closed\n\ntext\n\n### one\n\n#### two");
  });

  it("excludes scripts, styles, navigation, controls and hidden parts", async () => {
    const out = [
      "<script>if (a < b) { '<p>no</p>' }</script><style>p > a {}</style><noframes>no</noframes>",
      "<nav><ul><li>no<nav>no</nav>no</ul></nav><div role=navigation>no</div><svg><text>no</text></svg>",
      '<div hidden>no</div><p aria-hidden="true">no</p><i style="color:red; DISPLAY: none">no</i>',
      "<template><p>no</p></template><button>no</button><select><option>no</select><textarea><p>no</textarea>",
      '<iframe src=x>no</iframe><!-- no > no --><!doctype html><?php no ?><input type=text value=no><img alt="">',
    ];
    expect(await markdown(`<p>a</p>${out.join("")}<p>b</p><noscript>c</noscript>`)).toBe("a\n\nb\n\nc");
  });

  it("is shown whole if nothing would be left, or an excluded part has no end", async () => {
    expect(await markdown("<nav><p>only this</p></nav>")).toBe("only this");
    expect(await markdown("<p>a</p><nav><p>b</p><p>c</p>")).toBe("a\n\nb\n\nc");
    expect(await markdown("<p hidden>a<p>b")).toBe("a\n\nb");
  });

  it("is the same however its source is split", async () => {
    const line = "a\u{e0041}😀 &amp;&lt;b&notin;\r\n";
    const source = line.repeat(12_000);
    expect(await markdown(`<pre>${source}</pre>`)).toBe(lines("```", ...Array<string>(12_000).fill("a😀 &<b∉"), "```"));
    expect(await markdown(`<p>${"x".repeat(4_090)}<b title="${"&amp;".repeat(40)}">bold</b>`)).toBe(
      `${"x".repeat(4_090)}**bold**`,
    );
  });

  it("has no invisible characters", async () => {
    const hidden = Array.from("ignore", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    expect(await markdown(`<p>so\u00adft ze\u200bro${hidden} tu\u202ern \u001b[31mred&#8238; 👩‍💻`)).toBe(
      "soft zero turn [31mred 👩‍💻",
    );
  });
});

describe("marks in the text", () => {
  it("are emphasis and code", async () => {
    expect(
      await markdown(
        "<b>a <i>b</i></b> <strong><b> c</b></strong>, <s>d</s> <em> </em><b></b>x <kbd>Ctrl</kbd> <code> a  b </code>",
      ),
    ).toBe("**a *b* c**, ~~d~~ x `Ctrl` `a b`");
    expect(await markdown("<code>a`b</code> <code>``</code> <code></code><code> </code>z <q>w</q>")).toBe(
      '``a`b`` ``` `` ``` z "w"',
    );
    expect(await markdown("<b>one<p>two</b> three")).toBe("**one**\n\n**two** three");
    expect(await markdown("</b></i>plain<b>")).toBe("plain");
  });

  it("are links, in full", async () => {
    expect(
      await markdown(
        '<a href="other.html#x">a</a> <a href="/r?a=1&amp;b=(2)">b <b>c</b></a> <a href="//h.test">d</a> <a href="mailto:x@y.z">e</a>',
      ),
    ).toBe(
      "[a](https://example.com/guide/other.html#x) [b **c**](https://example.com/r?a=1&b=%282%29) [d](https://h.test/) [e](mailto:x@y.z)",
    );
    expect(await markdown('<base href="/b/"><base href="/c/"><a href="x y">[1]</a>')).toBe(
      "[\\[1\\]](https://example.com/b/x%20y)",
    );
    expect(
      await markdown(
        '<a href="javascript:x()">a</a> <a href="data:,x">b</a> <a href="#c">c</a> <a>d</a> <a href="http://[">e</a>',
      ),
    ).toBe("a b c d e");
    expect(await markdown('<a href="1"></a><a href="2"><img alt="a &quot;logo&quot;"></a>')).toBe(
      '[a "logo"](https://example.com/guide/2)',
    );
    expect(await markdown('<a href="/c"><div><h3>Card</h3><p>more</div></a> <code>f(<a href="/t">T</a>)</code>')).toBe(
      lines(
        "### [Card](https://example.com/c)",
        "",
        "[more](https://example.com/c)",
        "",
        "`f(`[`T`](https://example.com/t)`)`",
      ),
    );
  });
});

describe("blocks", () => {
  it("are lists, nested and numbered, closed or not", async () => {
    expect(
      await markdown(
        "x<ul><li>a<ul><li>b<li>c</ul><li><p>d</p><p>e</p></li><li></li><li><input type=checkbox checked> f <input type=checkbox></ul><input type=checkbox><ol start=9><li>g<li>h<pre>i\nj</pre></ol>k",
      ),
    ).toBe(
      lines(
        "x",
        "",
        "- a",
        "  - b",
        "  - c",
        "- d",
        "",
        "  e",
        "- [x] f",
        "",
        "9. g",
        "10. h",
        "",
        "    ```",
        "    i",
        "    j",
        "    ```",
        "",
        "k",
      ),
    );
    expect(await markdown("<dl><dt>a<dd>b<dt>c<dd>d</dl>e")).toBe("a\n: b\n\nc\n: d\n\ne");
    expect(await markdown("<li>a<li>b</ul></li></ul>")).toBe("- a\n- b");
  });

  it("are quotes and rules", async () => {
    expect(await markdown("a<blockquote><p>b</p><p>c<ul><li>d</ul><blockquote>e</blockquote></blockquote>f<hr>g")).toBe(
      lines("a", "", "> b", ">", "> c", ">", "> - d", ">", "> > e", "", "f", "", "---", "", "g"),
    );
  });

  it("are code, verbatim, with its language", async () => {
    expect(
      await markdown(
        '<pre><code class="hljs language-TS">\nif (a &lt; b) {\n\n  c();\n}\n</code></pre><pre class="brush: js notranslate">x <b>y</b></pre>',
      ),
    ).toBe(lines("```ts", "if (a < b) {", "", "  c();", "}", "```", "", "```js", "x y", "```"));
    expect(
      await markdown(
        '<div class="highlight-source-rust"><pre>a<br>b</pre></div><div class="highlight-x">text</div><pre>c</pre>',
      ),
    ).toBe(lines("```rust", "a", "b", "```", "", "text", "", "```", "c", "```"));
    expect(await markdown("<pre><div>1</div><div>2</div><button>copy</button></pre><pre>```\n</pre><pre> </pre>")).toBe(
      lines("```", "1", "2", "```", "", "````", "```", "````"),
    );
  });

  it("are tables", async () => {
    expect(
      await markdown(
        "<table><caption>cap</caption><thead><tr><th>a<th>b|c</thead><tbody><tr><td><p>1<p>2<td><code>x</code><tr><td colspan=2><a href=/d>d</a><tr><td>",
      ),
    ).toBe(lines("cap", "", "| a | b\\|c |", "| --- | --- |", "| 1<br>2 | `x` |", "| [d](https://example.com/d) |  |"));
  });

  it("in tables turn a table into paragraphs, as does a single column", async () => {
    expect(await markdown("<table><tr><td>a<td><h2>b</h2>c<td><table><tr><td>d<td>e</table>f</table>g")).toBe(
      lines("a", "", "## b", "", "c", "", "| d | e |", "| --- | --- |", "", "f", "", "g"),
    );
    expect(await markdown("<table><tr><td>1<td class=code><pre>x\ny</pre></table>")).toBe("1\n\n```\nx\ny\n```");
    expect(await markdown("<table><tr><td>a<tr><td>b</table>")).toBe("a\n\nb");
  });
});

describe("a limit", () => {
  it("ends the text, and reports that it continues", async () => {
    expect(await htmlToMarkdown("<p>abc</p>".repeat(10), { url, limit: 12 })).toEqual({
      markdown: "abc\n\nabc\n\nabc",
      hasText: true,
      truncated: true,
    });
    expect(await htmlToMarkdown("<p>abc</p>", { url, limit: 3 })).toEqual({
      markdown: "abc",
      hasText: true,
      truncated: false,
    });
    expect(await htmlToMarkdown("<title>t</title><script>x</script>", { url, limit })).toEqual({
      markdown: "# t",
      hasText: false,
      truncated: false,
    });
  });
});

describe("hostile pages", () => {
  const fill = (text: string, size = 1_000_000): string => text.repeat(Math.floor(size / text.length));
  const pages: Readonly<Record<string, string>> = {
    "nested blocks": `${"<div>".repeat(100_000)}x`,
    "nested lists": fill("<ul><li>"),
    "nested lists with text": fill("<ul><li>x"),
    "nested quotes with text": fill("<blockquote>x"),
    "end tags without start tags": fill("</ul></li></blockquote></b></a></table></h1></pre></code>"),
    "nested tables": fill("<table><td>x"),
    "empty nested tables": fill("<table><td>"),
    "an unclosed row": `<table>${fill("<td>")}`,
    "cells with a huge colspan": `<table>${fill("<td colspan=99999999>")}`,
    "nested marks": fill("<b><i><s><a href=x><code>y"),
    "links without text": fill("<a href=x>"),
    "unfinished tags": fill("<", 5_000_000),
    "unfinished tags with names": fill("<a"),
    "unfinished end tags": fill("</"),
    "unclosed comments": fill("<!--"),
    "unclosed declarations": fill("<!a"),
    attributes: `<a ${fill("b=c ")}>x`,
    "unclosed values": fill('<a b="'),
    "unclosed scripts": `<script>${fill("</scrip")}`,
    ampersands: fill("&", 5_000_000),
    references: fill("&lt;&#x41;&notin"),
    "unfinished character references": `&#${fill("9")}`,
    backticks: `<code>${fill("`")}`,
    "lines of code in a deep list": `${"<ul><li>".repeat(50)}<pre>${fill("\n")}x`,
    "blocks in code": `<pre>${fill("<div>x")}`,
    "white space": fill(" \n"),
    "hidden elements": fill("<p hidden>"),
    "styles that hide nothing": fill('<i style="display :  ">'),
    headings: fill("<h1>"),
    breaks: fill("<br>x"),
    "a title": `<title>${fill("x ")}`,
  };

  it.each(Object.entries(pages))("of %s are read to the end or the limit", async (_, html) => {
    const page = await htmlToMarkdown(html, { url, limit });
    expect(page.markdown.length).toBeLessThan(limit * 1.5);
    expect(page.markdown.isWellFormed()).toBe(true);
  });
});
