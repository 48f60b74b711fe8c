import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { createOfflineModel } from "../../src/models/offline/offline-model.ts";
import { parseScript, scriptJsonSchema } from "../../src/models/scripted/script-format.ts";
import { createChat } from "./harness.ts";

const page = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");

test("every script on the page is valid", async () => {
  const blocks = [...(await page("scripted-models.md")).matchAll(/```yaml\n([\s\S]*?)```/g)].map(
    (match) => match[1] ?? "",
  );
  expect(blocks.length).toBe(5);
  for (const block of blocks) expect(parseScript(parse(block), "page").replies.length).toBeGreaterThan(2);
});

test("the page names every key of the format", async () => {
  const text = await page("scripted-models.md");
  const keys = JSON.stringify(scriptJsonSchema()).matchAll(/"properties":\{(.*?)\},"additionalProperties"/g);
  const names = [...keys].flatMap((match) =>
    [...(match[1] ?? "").matchAll(/"([a-zA-Z_]+)":\{/g)].map((name) => name[1] ?? ""),
  );
  const own = names.filter((name) => !["properties", "items", "additionalProperties", "propertyNames"].includes(name));
  expect(own.length).toBeGreaterThan(20);
  expect(own.filter((name) => !text.includes(name))).toEqual([]);
});

test("the offline model understands every example of its page", async () => {
  const [first = ""] = (await page("offline-model.md")).split("It understands a request as a whole");
  const rows = [...first.matchAll(/^\| [^|]+ \| (.+?) \| .+ \|$/gm)].map((match) => match[1] ?? "");
  const examples = rows.flatMap((row) =>
    [...row.matchAll(/`` ?(.+?) ?``|`([^`]+)`/g)].map((match) => match[1] ?? match[2] ?? ""),
  );
  expect(examples.length).toBeGreaterThan(20);
  const model = createOfflineModel();
  for (const example of examples) {
    const { text } = await createChat(model).say(example);
    expect({ example, understood: !/nothing was done|什么都没有做/.test(text) }).toEqual({
      example,
      understood: true,
    });
  }
});
