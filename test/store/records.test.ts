import { describe, expect, it } from "vitest";
import { decodeStart } from "../../src/store/listing/listed-records.ts";
import { decodeRecord, encodeRecord } from "../../src/store/records.ts";
import { everyBody, everyEvent, opened, prompt, settings } from "./sample-events.ts";

const start = {
  type: "session_start",
  version: 1,
  id: "s1",
  title: "",
  cwd: "/home/me/project",
  createdAt: 1_000,
  seq: 1,
  at: 1_000,
  settings,
};

describe("the first line", () => {
  it("says what the session is", () => {
    expect(encodeRecord(opened("s1"))).toBe(JSON.stringify(start));
    expect(decodeStart(JSON.stringify(start), "s1")).toEqual({ kind: "event", event: opened("s1"), title: "" });
  });

  it("may have fields that a later version added", () => {
    const decoded = decodeStart(JSON.stringify({ ...start, title: "Named", colour: "red" }), "s1");
    expect(decoded).toEqual({ kind: "event", event: opened("s1"), title: "Named" });
  });

  it.each(["/", "C:\\Users\\me", "d:/work"])("may name the folder %s", (cwd) => {
    expect(decodeStart(JSON.stringify({ ...start, cwd }), "s1")).toMatchObject({ kind: "event", event: { cwd } });
  });

  it("is not written with a folder that could not be read again", () => {
    expect(() => encodeRecord(opened("s1", "project"))).toThrow("session.opened");
  });

  it("says when a later version wrote it, whatever else it holds", () => {
    const line = JSON.stringify({ type: "session_start", version: 2 });
    expect(decodeStart(line, "s1")).toEqual({ kind: "later", version: 2 });
  });

  it.each([
    ["not JSON", "{"],
    ["no object", "[]"],
    ["another record", encodeRecord(prompt("s1", 2))],
    ["no version", JSON.stringify({ ...start, version: undefined })],
    ["a version in words", JSON.stringify({ ...start, version: "1" })],
    ["no folder", JSON.stringify({ ...start, cwd: undefined })],
    ["an empty folder", JSON.stringify({ ...start, cwd: "" })],
    ["the folder of whoever reads it", JSON.stringify({ ...start, cwd: "." })],
    ["a folder below another", JSON.stringify({ ...start, cwd: "home/me" })],
    ["a folder of a drive's own folder", JSON.stringify({ ...start, cwd: "C:me" })],
    ["another number", JSON.stringify({ ...start, seq: 2 })],
    ["no time", JSON.stringify({ ...start, at: "now" })],
    ["an endless time", JSON.stringify(start).replaceAll("1000", "1e999")],
    ["no settings", JSON.stringify({ ...start, settings: null })],
    ["an unknown level", JSON.stringify({ ...start, settings: { ...settings, autonomy: "max" } })],
    ["half a fork", JSON.stringify({ ...start, forkOf: { sessionId: "p" } })],
  ])("is damaged with %s", (_, line) => {
    expect(decodeStart(line, "s1")).toEqual({ kind: "damaged" });
  });
});

describe("other lines", () => {
  it("carry number and time, and not the session's id", () => {
    expect(encodeRecord({ ...prompt("s1", 2), turnId: "t1" })).toBe(
      '{"seq":2,"at":1002,"turnId":"t1","type":"prompt.accepted","messageId":"m2","content":[{"type":"text","text":"prompt 2"}]}',
    );
  });

  it("belong to the log in which they were found", () => {
    const line = JSON.stringify({ ...prompt("other", 2), sessionId: "other" });
    expect(decodeRecord(line, "s1")).toEqual({ kind: "event", event: prompt("s1", 2) });
  });

  it("are told apart from those of a later version", () => {
    for (const type of ["session.compacted", "constructor", "__proto__", "toString"]) {
      const line = JSON.stringify({ seq: 7, at: 1, type, anything: [] });
      expect(decodeRecord(line, "s1")).toEqual({ kind: "unknown", seq: 7 });
    }
  });

  it.each([
    ["nothing", ""],
    ["null", "null"],
    ["a list", "[1]"],
    ["zeros", "\u0000\u0000\u0000"],
    ["no type", '{"seq":2,"at":1}'],
    ["no number", '{"at":1,"type":"session.titled","title":"x"}'],
    ["a broken number", '{"seq":2.5,"at":1,"type":"session.titled","title":"x"}'],
    ["number zero", '{"seq":0,"at":1,"type":"session.titled","title":"x"}'],
    ["a number of an unknown type that is none", '{"seq":"2","at":1,"type":"session.compacted"}'],
    ["no time", '{"seq":2,"type":"session.titled","title":"x"}'],
    ["a turn that is no text", '{"seq":2,"at":1,"turnId":5,"type":"session.titled","title":"x"}'],
    ["a second first line", JSON.stringify({ ...start, seq: 2 })],
    ["an opening in the middle", JSON.stringify({ ...opened("s1"), seq: 2 })],
    ["too deep a nesting", "[".repeat(200_000)],
  ])("are damaged with %s", (_, line) => {
    expect(decodeRecord(line, "s1")).toEqual({ kind: "damaged" });
  });

  it.each(everyBody.map((body) => [body.type, body] as const))("of type %s need their fields", (_, body) => {
    const whole: Record<string, unknown> = { seq: 2, at: 1, ...body };
    expect(decodeRecord(JSON.stringify(whole), "s1")).toMatchObject({ kind: "event" });
    for (const key of Object.keys(body)) {
      // Changes to the settings are the one field of `request.closed` that may be missing.
      const extras = ["failure", "untaken", "joined", "prompts"];
      const isExtra = extras.includes(key) || (key === "changes" && body.type === "request.closed");
      const mayMiss = key === "type" || isExtra;
      const without = decodeRecord(JSON.stringify({ ...whole, [key]: undefined }), "s1");
      expect({ key, kind: without.kind }).toEqual({ key, kind: key !== "type" && mayMiss ? "event" : "damaged" });
      const wrong = decodeRecord(JSON.stringify({ ...whole, [key]: [[1]] }), "s1");
      expect({ key, kind: wrong.kind }).toEqual({ key, kind: "damaged" });
    }
  });

  it("may tell the cause of a failure, and only one that is known", () => {
    const ended = everyEvent("s1").find((event) => event.type === "turn.ended");
    const lineWith = (cause: unknown): string =>
      JSON.stringify({ ...ended, failure: { code: "model_failed", message: "It hung up.", cause } });
    expect(decodeRecord(lineWith("timeout"), "s1")).toMatchObject({
      kind: "event",
      event: { failure: { code: "model_failed", message: "It hung up.", cause: "timeout" } },
    });
    expect([decodeRecord(lineWith(undefined), "s1").kind, decodeRecord(lineWith("weather"), "s1").kind]).toEqual([
      "event",
      "damaged",
    ]);
  });

  it("never make a reader throw, whatever part of them is wrong", () => {
    const strange = [null, 0, -1, "", "x", true, [], [null], {}, { type: "text" }, { kind: "allow" }];
    for (const event of everyEvent("s1").slice(1)) {
      for (const variant of variantsOf(event, strange)) {
        expect(["event", "unknown", "damaged"]).toContain(decodeRecord(JSON.stringify(variant), "s1").kind);
      }
    }
  });
});

/** Copies of a value with each of its parts, at any depth, replaced by each of `strange`. */
function* variantsOf(value: unknown, strange: readonly unknown[]): Generator<unknown> {
  yield* strange;
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const variant of variantsOf(part, strange)) {
      if (Array.isArray(value)) yield value.with(Number(key), variant);
      else yield { ...value, [key]: variant };
    }
  }
}
