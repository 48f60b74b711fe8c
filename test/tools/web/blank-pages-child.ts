import { htmlToMarkdown } from "../../../src/tools/web/html-to-markdown.ts";

/** Converts pages that are almost all blanks to Markdown. */
const pages = [
  `<p>start${" ".repeat(5_000_000)}end</p>`,
  `<p>start${"\n\u00a0".repeat(2_500_000)}end</p>`,
  `<pre>${"\n".repeat(5_000_000)}  code</pre>`,
];
const texts: string[] = [];
for (const html of pages) texts.push((await htmlToMarkdown(html, { url: "https://h.test/", limit: 1_000 })).markdown);
process.stdout.write(JSON.stringify(texts));
