import { describe, expect, it } from "vitest";
import { isStored } from "../../../src/engine/event.ts";
import { decodeStart } from "../../../src/store/listing/listed-records.ts";
import { decodeRecord, encodeRecord } from "../../../src/store/records/records.ts";
import { everyBody, everyEvent, opened, prompt, settings } from "../sample-events.ts";

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
  it("holds the session's id, cwd and settings", () => {
    expect(encodeRecord(opened("s1"))).toBe(JSON.stringify(start));
    expect(decodeStart(JSON.stringify(start), "s1")).toEqual({ kind: "event", event: opened("s1"), title: "" });
  });

  it("can have unknown fields", () => {
    const decoded = decodeStart(JSON.stringify({ ...start, title: "Named", colour: "red" }), "s1");
    expect(decoded).toEqual({ kind: "event", event: opened("s1"), title: "Named" });
  });

  it.each(["/", "C:\\Users\\me", "d:/work"])("can have the cwd %s", (cwd) => {
    expect(decodeStart(JSON.stringify({ ...start, cwd }), "s1")).toMatchObject({ kind: "event", event: { cwd } });
  });

  it("is never written with a relative cwd", () => {
    expect(() => encodeRecord(opened("s1", "project"))).toThrow("session.opened");
  });

  it("reports a later version, whatever its other fields", () => {
    const line = JSON.stringify({ type: "session_start", version: 2 });
    expect(decodeStart(line, "s1")).toEqual({ kind: "later", version: 2 });
  });

  it.each([
    ["not JSON", "{"],
    ["a list", "[]"],
    ["another record", encodeRecord(prompt("s1", 2))],
    ["no version", JSON.stringify({ ...start, version: undefined })],
    ["a string version", JSON.stringify({ ...start, version: "1" })],
    ["no cwd", JSON.stringify({ ...start, cwd: undefined })],
    ["an empty cwd", JSON.stringify({ ...start, cwd: "" })],
    ["the cwd .", JSON.stringify({ ...start, cwd: "." })],
    ["a relative cwd", JSON.stringify({ ...start, cwd: "home/me" })],
    ["a drive-relative cwd", JSON.stringify({ ...start, cwd: "C:me" })],
    ["another seq", JSON.stringify({ ...start, seq: 2 })],
    ["a string time", JSON.stringify({ ...start, at: "now" })],
    ["an infinite time", JSON.stringify(start).replaceAll("1000", "1e999")],
    ["no settings", JSON.stringify({ ...start, settings: null })],
    ["an unknown level", JSON.stringify({ ...start, settings: { ...settings, autonomy: "max" } })],
    ["a fork without a seq", JSON.stringify({ ...start, forkOf: { sessionId: "p" } })],
  ])("is damaged with %s", (_, line) => {
    expect(decodeStart(line, "s1")).toEqual({ kind: "damaged" });
  });
});

describe("other lines", () => {
  it("have seq and time, but not the session's id", () => {
    expect(encodeRecord({ ...prompt("s1", 2), turnId: "t1" })).toBe(
      '{"seq":2,"at":1002,"turnId":"t1","type":"prompt.accepted","messageId":"m2","content":[{"type":"text","text":"prompt 2"}]}',
    );
  });

  it("belong to the log that contains them", () => {
    const line = JSON.stringify({ ...prompt("other", 2), sessionId: "other" });
    expect(decodeRecord(line, "s1")).toEqual({ kind: "event", event: prompt("s1", 2) });
  });

  it("of an unknown type are unknown, not damaged", () => {
    for (const type of ["session.compacted", "constructor", "__proto__", "toString"]) {
      const line = JSON.stringify({ seq: 7, at: 1, type, anything: [] });
      expect(decodeRecord(line, "s1")).toEqual({ kind: "unknown", seq: 7 });
    }
  });

  it.each([
    ["no text", ""],
    ["null", "null"],
    ["a list", "[1]"],
    ["zeros", "\u0000\u0000\u0000"],
    ["no type", '{"seq":2,"at":1}'],
    ["no seq", '{"at":1,"type":"session.titled","title":"x"}'],
    ["a fractional seq", '{"seq":2.5,"at":1,"type":"session.titled","title":"x"}'],
    ["seq 0", '{"seq":0,"at":1,"type":"session.titled","title":"x"}'],
    ["a string seq and an unknown type", '{"seq":"2","at":1,"type":"session.compacted"}'],
    ["no time", '{"seq":2,"type":"session.titled","title":"x"}'],
    ["a turn id that is not text", '{"seq":2,"at":1,"turnId":5,"type":"session.titled","title":"x"}'],
    ["a second session_start", JSON.stringify({ ...start, seq: 2 })],
    ["a session.opened", JSON.stringify({ ...opened("s1"), seq: 2 })],
    ["excessive nesting", "[".repeat(200_000)],
  ])("are damaged with %s", (_, line) => {
    expect(decodeRecord(line, "s1")).toEqual({ kind: "damaged" });
  });

  it("have a sample of every durable event", () => {
    const durable = Object.entries(isStored).flatMap(([type, stored]) => (stored ? [type] : []));
    const samples = new Set<string>(everyEvent("s1").map(({ type }) => type));
    expect([...samples].toSorted()).toEqual(durable.toSorted());
  });

  it.each(everyBody.map((body) => [body.type, body] as const))("of type %s require their fields", (_, body) => {
    const whole: Record<string, unknown> = { seq: 2, at: 1, ...body };
    expect(decodeRecord(JSON.stringify(whole), "s1")).toMatchObject({ kind: "event" });
    for (const key of Object.keys(body)) {
      // `changes` is optional only in `request.closed`.
      const extras = ["failure", "untaken", "joined", "prompts", "seen", "summary", "isShortened"];
      const isExtra = extras.includes(key) || (key === "changes" && body.type === "request.closed");
      const mayMiss = key === "type" || isExtra;
      const without = decodeRecord(JSON.stringify({ ...whole, [key]: undefined }), "s1");
      expect({ key, kind: without.kind }).toEqual({ key, kind: key !== "type" && mayMiss ? "event" : "damaged" });
      const wrong = decodeRecord(JSON.stringify({ ...whole, [key]: [[1]] }), "s1");
      expect({ key, kind: wrong.kind }).toEqual({ key, kind: "damaged" });
    }
  });

  it("can have a failure's cause, but only a known one", () => {
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

  it("never make the decoder throw, whichever part is wrong", () => {
    const strange = [null, 0, -1, "", "x", true, [], [null], {}, { type: "text" }, { kind: "allow" }];
    for (const event of everyEvent("s1").slice(1)) {
      for (const variant of variantsOf(event, strange)) {
        expect(["event", "unknown", "damaged"]).toContain(decodeRecord(JSON.stringify(variant), "s1").kind);
      }
    }
  });
});

/** Copies of a value with one part, at any depth, replaced by one of `strange`. */
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
