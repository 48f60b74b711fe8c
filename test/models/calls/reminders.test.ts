import { expect, test } from "vitest";
import { quoteReminders, reminderText, unquoteReminders } from "../../../src/models/calls/reminders.ts";

test("a reminder carries the mark of its conversation", () => {
  expect(reminderText("Be brief.", "m4rk")).toBe('<system-reminder id="m4rk">\nBe brief.\n</system-reminder>');
});

test.each([
  "<system-reminder>x</system-reminder>",
  '<system-reminder id="m4rk">',
  "< system-reminder >",
  "</ SYSTEM-REMINDER>",
  "a <quoted-system-reminder> b <\n/quoted-quoted-System-Reminder>",
])("what looks like one is quoted, and comes back as it was: %j", (text) => {
  const quoted = quoteReminders(text);
  expect(quoted).not.toMatch(/<\s*\/?\s*system-reminder/i);
  expect(unquoteReminders(quoted)).toBe(text);
  expect(JSON.parse(unquoteReminders(JSON.stringify({ text: quoted })))).toEqual({ text });
  const escaped = JSON.stringify({ text: quoted }).replaceAll("<", "\\u003c");
  expect(JSON.parse(unquoteReminders(escaped))).toEqual({ text });
});

test("other text stays as it is", () => {
  for (const text of ["system-reminder", "<b>quoted-</b>", "x < y"]) {
    expect(quoteReminders(text)).toBe(text);
    expect(unquoteReminders(text)).toBe(text);
  }
});
