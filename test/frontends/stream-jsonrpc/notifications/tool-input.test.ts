import fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamedCalls } from "../../../../src/frontends/stream-jsonrpc/notifications/tool-input.ts";
import { createStreamedCalls, objectInput } from "../../../../src/frontends/stream-jsonrpc/notifications/tool-input.ts";

const inputs = (calls: StreamedCalls, ...parts: readonly string[]): object[] =>
  parts.flatMap((part) => calls.add("c", "Tool", part)).map(({ input }) => input);

test("shows each argument when it is complete, together with those before it", () => {
  const parts = ['{"a', '": "x,}\\"', '"', ', "b": [1, {"', 'c": 2}], "d": nul', "l", "}", " "];
  expect(inputs(createStreamedCalls(), ...parts)).toEqual([
    {},
    { a: 'x,}"' },
    { a: 'x,}"', b: [1, { c: 2 }] },
    { a: 'x,}"', b: [1, { c: 2 }], d: null },
  ]);
});

test("shows a call that comes in one piece empty, and then complete", () => {
  expect(inputs(createStreamedCalls(), '{"a":1,"b":2}')).toEqual([{}, { a: 1, b: 2 }]);
});

test.each([["{}"], [""], ["[1,2]"], ['"text"'], ["{a:1}"], ['{"a" 1,"b":2}'], ['{"a":1'], ['{"a":{"b":1}']])(
  "%s completes nothing",
  (text) => {
    expect(inputs(createStreamedCalls(), "", ...text)).toEqual([{}]);
    expect(inputs(createStreamedCalls(), text)).toEqual([{}]);
  },
);

test("text after the arguments is not part of them", () => {
  expect(inputs(createStreamedCalls(), '{"a":1}', '{"b":2}', ',"c":3}')).toEqual([{}, { a: 1 }]);
});

test("treats special names like any other", () => {
  const [, input = {}] = inputs(createStreamedCalls(), '{"__proto__":{"x":1},"constructor":2}');
  expect(JSON.stringify(input)).toBe('{"__proto__":{"x":1},"constructor":2}');
  expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
});

test("any object, split anywhere, ends as itself and only grows on the way", () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), {
    minKeys: 1,
    maxKeys: 6,
    noNullPrototype: true,
  });
  const cuts = fc.array(fc.nat(200), { maxLength: 30 });
  fc.assert(
    fc.property(object, fc.constantFrom(0, 1), cuts, (value, indent, places) => {
      const text = JSON.stringify(value, undefined, indent);
      const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
      const parts = [0, ...ends].map((from, index) => text.slice(from, ends[index]));
      const shown = inputs(createStreamedCalls(), ...parts);
      expect(JSON.stringify(shown.at(-1))).toBe(JSON.stringify(JSON.parse(text)));
      const sizes = shown.map((input) => Object.keys(input).length);
      expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => a - b));
    }),
  );
});

test("remembers what was shown, and a restart does not show it again", () => {
  const calls = createStreamedCalls();
  const use = (input: Record<string, unknown>, id = "c") => ({ type: "tool_use", id, name: "Tool", input }) as const;
  expect(calls.hasShown(use({}))).toBe(false);
  calls.add("c", "Tool", '{"a":1,"b":');
  expect([
    calls.hasShown(use({ a: 1 })),
    calls.hasShown(use({ a: 1, b: 2 })),
    calls.hasShown(use({ a: 1 }, "d")),
  ]).toEqual([true, false, false]);
  calls.restart();
  expect(inputs(calls, '{"a"', ":1", ',"b":3}')).toEqual([{ a: 1, b: 3 }]);
  calls.clear();
  expect(inputs(calls, '{"a":1')).toEqual([{}]);
});

test("keeps parallel calls apart", () => {
  const calls = createStreamedCalls();
  const shown = [
    ...calls.add("c1", "A", '{"x":'),
    ...calls.add("c2", "B", '{"y":2'),
    ...calls.add("c1", "A", "1}"),
    ...calls.add("c2", "B", "}"),
  ];
  expect(shown.map(({ id, input }) => [id, input])).toEqual([
    ["c1", {}],
    ["c2", {}],
    ["c1", { x: 1 }],
    ["c2", { y: 2 }],
  ]);
});

test("does not show thousands of arguments thousands of times", () => {
  const calls = createStreamedCalls();
  const members = Array.from({ length: 20_000 }, (_, index) => `"k${index}":${index}`);
  let characters = 0;
  for (const [index, member] of members.entries()) {
    for (const { input } of calls.add("c", "T", `${index === 0 ? "{" : ","}${member}`)) {
      characters += JSON.stringify(input).length;
    }
  }
  expect(characters).toBeLessThan(1_000_000);
  expect(characters).toBeGreaterThan(100_000);
});

test("does not show too deep arguments", () => {
  const deep = `{"a":${"[".repeat(600)}${"]".repeat(600)},"b":1}`;
  expect(inputs(createStreamedCalls(), deep)).toEqual([{}]);
});

test.each([
  [{ a: 1 }, { a: 1 }],
  [[1], {}],
  ["x", {}],
  [null, {}],
  [undefined, {}],
])("%j as arguments is %j", (given, input) => {
  expect(objectInput(given)).toEqual(input);
});
