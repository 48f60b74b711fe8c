import { expect, it } from "vitest";
import { fieldsOf, isRecord, listOf, numberOf, parsedJson, recordOf, textOf, textsOf } from "../../src/text/values.ts";

it("accepts only values of the requested kind", () => {
  const given = [{ a: 1 }, [1, "b"], null, undefined, "text", 2, Number.NaN, true];
  expect(given.map(isRecord)).toEqual([true, false, false, false, false, false, false, false]);
  expect(given.map(recordOf)).toEqual([{ a: 1 }, ...Array<undefined>(7).fill(undefined)]);
  expect(given.map(fieldsOf)).toEqual([{ a: 1 }, {}, {}, {}, {}, {}, {}, {}]);
  expect(given.map(listOf)).toEqual([[], [1, "b"], [], [], [], [], [], []]);
  expect(given.map(textsOf)).toEqual([[], ["b"], [], [], [], [], [], []]);
  expect(given.map(textOf).filter((text) => text !== undefined)).toEqual(["text"]);
  expect(given.map(numberOf).filter((number) => number !== undefined)).toEqual([2]);
});

it("never throws for text that is not JSON", () => {
  expect(["{}", "null", "", "{", '{"a":1}x'].map(parsedJson)).toEqual([{}, null, undefined, undefined, undefined]);
});
