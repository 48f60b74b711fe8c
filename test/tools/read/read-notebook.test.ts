import { describe, expect, it } from "vitest";
import { editTool } from "../../../src/tools/edit/edit.ts";
import { readTool } from "../../../src/tools/read/read.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { asClientsSee, call, createContext } from "../call.ts";
import { gifOf, jpegOf, pngOf } from "../image-files.ts";

async function read(content: string | Buffer, input: object = {}) {
  const context = createContext(createMemoryHost({ "/project/n.ipynb": content }));
  return asClientsSee(await call(readTool, { file_path: "n.ipynb", ...input }, context));
}

const metadata = { language_info: { name: "python" } };
const notebook = (cells: readonly unknown[], given: object = { metadata }) =>
  JSON.stringify({ cells, nbformat: 4, nbformat_minor: 5, ...given }, null, 1);
const code = (source: unknown, outputs: readonly unknown[] = []) => ({ cell_type: "code", source, outputs });
const display = (data: object) => ({ output_type: "display_data", data });

const header = (about: string) =>
  `[Notebook, ${about}: rendered, not the file's own text. Edit changes the raw JSON, which Grep and Execute show.]`;

describe("Read of a notebook", () => {
  it("renders cells and outputs in order", async () => {
    const cells = [
      { cell_type: "markdown", source: ["# Title\n", "\n", "words"] },
      code("print(1)\n2", [
        { output_type: "stream", name: "stdout", text: ["1\n"] },
        { output_type: "stream", name: "stderr", text: "a warning" },
        { output_type: "execute_result", data: { "text/plain": ["2"], "text/html": "<b>2</b>" } },
      ]),
      code("1/0", [
        {
          output_type: "error",
          ename: "ZeroDivisionError",
          evalue: "division by zero",
          traceback: ["\u001b[0;31mZeroDivisionError\u001b[0m: division by zero", "line two"],
        },
      ]),
      { cell_type: "raw", source: "as it is" },
    ];
    expect(await read(notebook(cells))).toEqual({
      status: "ok",
      text: [
        header("4 cells, python"),
        "--- cell 1 of 4 (markdown) ---",
        "# Title",
        "",
        "words",
        "",
        "--- cell 2 of 4 (code, python) ---",
        "print(1)",
        "2",
        "--- output of cell 2 ---",
        "1",
        "--- output of cell 2 (stderr) ---",
        "a warning",
        "--- output of cell 2 ---",
        "2",
        "",
        "--- cell 3 of 4 (code, python) ---",
        "1/0",
        "--- output of cell 3 (error) ---",
        "ZeroDivisionError: division by zero",
        "line two",
        "",
        "--- cell 4 of 4 (raw) ---",
        "as it is",
        "",
      ].join("\n"),
    });
  });

  it("shows a progress bar's last state, and names what it cannot show", async () => {
    const outputs = [
      { output_type: "stream", name: "stderr", text: "  0%\r 50%\r100%\r\ndone\n" },
      display({ "application/vnd.widget+json": { id: 1 }, "text/html": ["<table>"] }),
      { output_type: "error", ename: "E", evalue: "no traceback" },
    ];
    expect(await read(notebook([code([], outputs)], {}))).toEqual({
      status: "ok",
      text: [
        header("1 cell"),
        "--- cell 1 of 1 (code) ---",
        "--- output of cell 1 (stderr) ---",
        "100%",
        "done",
        "--- output of cell 1 ---",
        "[not shown: application/vnd.widget+json, text/html]",
        "--- output of cell 1 (error) ---",
        "E: no traceback",
        "",
      ].join("\n"),
    });
  });

  it("includes the images of the returned lines, up to four", async () => {
    const picture = (bytes: Buffer, type = "image/png") =>
      display({ [type]: `${bytes.toString("base64").replace(/.{40}/g, "$&\n")}\n`, "text/plain": "<Figure>" });
    const block = (bytes: Buffer, mediaType = "image/png") => ({
      type: "image",
      mediaType,
      data: bytes.toString("base64"),
    });
    const images = [1, 2, 3, 4].map((width) => pngOf(width, 9));
    const content = notebook([
      code("one", [picture(jpegOf(7, 7), "image/jpeg"), picture(Buffer.from("no image"))]),
      code("more", [...images.map((bytes) => picture(bytes)), picture(gifOf(2, 2), "image/gif")]),
    ]);
    const all = await read(content);
    expect(all.media).toEqual([block(jpegOf(7, 7), "image/jpeg"), ...images.slice(0, 3).map((bytes) => block(bytes))]);
    expect(all.text.split("\n").slice(-8)).toEqual([
      "[image 6: image/png]",
      "--- output of cell 2 ---",
      "<Figure>",
      "[image 7: image/gif]",
      "",
      "[With this: image 1, image 3, image 4, image 5.]",
      "[Not shown: image 2 (it is not a PNG, JPEG, GIF or WebP image).]",
      "[2 more of these images were omitted: Read with offset 22 to see them.]",
    ]);
    const rest = await read(content, { offset: 22 });
    expect(rest).toEqual({
      status: "ok",
      text: [
        header("2 cells, python"),
        "[image 6: image/png]",
        "--- output of cell 2 ---",
        "<Figure>",
        "[image 7: image/gif]",
        "",
        "[Lines 23-26, the last of the text.]",
        "[With this: image 6, image 7.]",
      ].join("\n"),
      media: [block(pngOf(4, 9)), block(gifOf(2, 2), "image/gif")],
    });
    expect((await read(content, { limit: 4 })).media).toBeUndefined();
  });

  it("shows the plain text of a file of more than 10 MB", async () => {
    const content = (bytes: number) => `{"cells":[],\n"x":"${"x".repeat(bytes - 21)}"}\n`;
    const most = 10 * 1024 * 1024;
    expect(content(most)).toHaveLength(most);
    expect(await read(content(most))).toEqual({ status: "ok", text: `${header("0 cells")}\n[The text is empty.]` });
    expect(await read(content(most + 1), { limit: 1 })).toEqual({
      status: "ok",
      text: '{"cells":[],\n\n[Lines 1-1. The file continues: Read it with offset 1 for the rest.]\n[Not shown as a notebook: it has more than 10 MB.]',
    });
  });

  it("limits cells and outputs, and says what was omitted", async () => {
    const zeros = await read(`{"cells":[${"0,".repeat(999_999)}0]}`, { offset: 39_997 });
    expect(zeros).toEqual({
      status: "ok",
      text: [
        header("1000000 cells").replace(/\]$/, " Only its first 20000 cells are shown.]"),
        "",
        "--- cell 20000 of 1000000 (unknown) ---",
        "",
        "[Lines 39998-39999, the last of the text.]",
      ].join("\n"),
    });
    const cell = `{"cell_type":"code","source":"x","outputs":[${"0,".repeat(1_999_999)}0]}`;
    const outputs = await read(`{"cells":[${cell},0]}`, { offset: 1001 });
    expect(outputs).toEqual({
      status: "ok",
      text: [
        header("2 cells"),
        "--- output of cell 1 ---",
        "[not shown: 1999000 more outputs of cell 1]",
        "",
        "--- cell 2 of 2 (unknown) ---",
        "",
        "[Lines 1002-1005, the last of the text.]",
      ].join("\n"),
    });
  });

  it("shows the plain text of JSON that is all brackets, without counting those in strings", async () => {
    const note = "\n[Not shown as a notebook: its JSON has more than 200000 parts.]";
    const lists = (count: number) => `{"cells":[${"[],".repeat(count - 1)}[]]}`;
    for (const content of [
      lists(200_000),
      `{"cells":${"[".repeat(4e6)}${"]".repeat(4e6)}}`,
      `[${'{"a":0},'.repeat(1e6)}0]`,
    ])
      expect((await read(content)).text.endsWith(note)).toBe(true);
    const fits = await read(lists(200_000 - 3), { limit: 1 });
    expect(fits.text.split("\n")[1]).toBe("--- cell 1 of 199997 (unknown) ---");
    const inText = await read(notebook([code(`\\"${"[{:".repeat(100_000)}`)]), { limit: 1 });
    expect(inText.text.split("\n")[1]).toBe("--- cell 1 of 1 (code, python) ---");
  });

  it("cuts endless texts, and lists of names", async () => {
    const stream = { output_type: "stream", text: "\n".repeat(3_000_000) };
    const many = display(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a/${index}`, 1])));
    const content = notebook([code("a\n".repeat(1_000_000), [stream, many])]);
    const names = Array.from({ length: 20 }, (_, index) => `a/${index}`).join(", ");
    const { text } = await read(content, { offset: 500_001 });
    expect(text.split("\n").slice(1, 5)).toEqual([
      "[cut: 1000000 more characters]",
      "--- output of cell 1 ---",
      "",
      "",
    ]);
    expect(await read(content, { offset: 1_500_003 })).toEqual({
      status: "ok",
      text: [
        header("1 cell, python"),
        "[cut: 2000000 more characters]",
        "--- output of cell 1 ---",
        `[not shown: ${names}, …]`,
        "",
        "[Lines 1500004-1500006, the last of the text.]",
      ].join("\n"),
    });
  });

  it("renders only what is requested, and can be interrupted", async () => {
    const { renderNotebook } = await import("../../../src/tools/read/notebook.ts");
    const picture = display({ "image/png": pngOf(1, 1).toString("base64") });
    const rendered = renderNotebook(notebook(Array.from({ length: 100 }, () => code("x", [picture]))));
    if (typeof rendered === "string") throw new Error(rendered);
    const lines = rendered.lines[Symbol.iterator]();
    expect([1, 2, 3, 4].map(() => lines.next().value)).toEqual([
      "--- cell 1 of 100 (code, python) ---",
      "x",
      "--- output of cell 1 ---",
      "[image 1: image/png]",
    ]);
    expect(rendered.pictures.map(({ label }) => label)).toEqual(["image 1"]);

    const stop = new AbortController();
    const host = createMemoryHost({ "/project/n.ipynb": `{"cells":[${"0,".repeat(19_999)}0]}` });
    const context = createContext(host, { signal: stop.signal });
    const reading = call(readTool, { file_path: "n.ipynb", offset: 1_000_000 }, context);
    setImmediate(() => stop.abort());
    expect(await reading).toEqual({ status: "interrupted", text: "Error: Tool execution cancelled by user" });
  });

  it("counts `offset` and `limit` in rendered lines", async () => {
    const content = notebook([code("a\nb\nc"), code("d")]);
    expect(await read(content, { offset: 2, limit: 2 })).toEqual({
      status: "ok",
      text: `${header("2 cells, python")}\nb\nc\n\n[Lines 3-4. The text continues: Read it with offset 4 for the rest.]`,
    });
    expect(await read(content, { offset: 9 })).toEqual({
      status: "failed",
      text: "Error: Error reading file: offset 9 is past the end: /project/n.ipynb has 7 lines.",
    });
    expect(await read(notebook([]))).toEqual({
      status: "ok",
      text: `${header("0 cells, python")}\n[The text is empty.]`,
    });
  });

  it("shows the plain text of anything else, with the reason", async () => {
    expect([
      await read('{"cells": [\n'),
      await read('{"worksheets": []}'),
      await read("[1, 2]"),
      await read(Buffer.from("caf\xe9", "latin1")),
      await read(""),
    ]).toEqual([
      { status: "ok", text: '{"cells": [\n\n[Not shown as a notebook: it is not valid JSON.]' },
      {
        status: "ok",
        text: '{"worksheets": []}\n\n[Not shown as a notebook: its JSON has no list of cells, as format 4 has.]',
      },
      { status: "ok", text: "[1, 2]\n\n[Not shown as a notebook: its JSON has no list of cells, as format 4 has.]" },
      {
        status: "ok",
        text: "caf\uFFFD\n\n[Some bytes are not UTF-8 and are shown as \uFFFD.]\n[Not shown as a notebook: it is not UTF-8.]",
      },
      { status: "ok", text: "[The file is empty.]\n[Not shown as a notebook: it is not valid JSON.]" },
    ]);
  });

  it("survives cells and outputs of any shape", async () => {
    const odd = [null, 1, "x", [], {}, { cell_type: 5, source: { a: 1 }, outputs: "no" }];
    const outputs = [
      null,
      7,
      {},
      { output_type: "stream", text: [1, "a"] },
      display({ "image/png": 5, "text/plain": [2] }),
    ];
    const { status, text } = await read(
      notebook([...odd, code(["a", 1], outputs)], { metadata: { language_info: 5 } }),
    );
    expect({
      status,
      lines: text
        .split("\n")
        .slice(1)
        .filter((line) => line !== ""),
    }).toEqual({
      status: "ok",
      lines: [
        ...[1, 2, 3, 4, 5, 6].map((number) => `--- cell ${number} of 7 (unknown) ---`),
        "--- cell 7 of 7 (code) ---",
        ...outputs.map(() => "--- output of cell 7 ---"),
        "[not shown: image/png, text/plain]",
      ],
    });
  });

  it("lets Edit change the raw JSON afterwards", async () => {
    const host = createMemoryHost({ "/project/n.ipynb": notebook([code(["x = 1\n", "y = 2"])]) });
    const context = createContext(host);
    await call(readTool, { file_path: "n.ipynb" }, context);
    const edit = (old_str: string) => call(editTool, { file_path: "n.ipynb", old_str, new_str: '"x = 3\\n"' }, context);
    expect((await edit("x = 1\ny = 2")).status).toBe("failed");
    expect((await edit('"x = 1\\n"')).status).toBe("ok");
    expect(host.text("/project/n.ipynb")).toBe(notebook([code(["x = 3\n", "y = 2"])]));
  });
});
