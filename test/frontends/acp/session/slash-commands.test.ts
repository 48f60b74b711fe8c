import { expect, test } from "vitest";
import { advertised } from "../../../../src/frontends/acp/session/slash-commands.ts";
import { createSession } from "../../../../src/sdk/browser.ts";
import { createFakeBackend, obliging } from "../../../sdk/fakes/fake-backend.ts";

test("a backend's commands are typeable words, with one line about each", async () => {
  const commands = [
    { name: "/review", description: "Look\nat \u202eit" },
    { name: "long", description: `${"x".repeat(199)}\u{1f600}` },
    { name: "bare" },
    { name: "mcp:linear:summary", description: "Sums up.", argumentHint: "<issue>" },
    ...["", "/", "two words", "a\nb", "hid\u200bden", "x".repeat(201), 7, null].map((name) => ({ name })),
    null,
  ];
  const { connect } = createFakeBackend({ ...obliging, "droid.list_commands": () => ({ commands }) });
  const session = await createSession({ connect });
  const ours = (await advertised(undefined)).commands.length;
  expect((await advertised(session)).commands.slice(0, -ours)).toEqual([
    { name: "review", description: "Look at \\u{202e}it" },
    { name: "long", description: `${"x".repeat(199)}…` },
    { name: "bare", description: "bare" },
    { name: "mcp:linear:summary", description: "Sums up.", hint: "<issue>" },
  ]);
  await session.close();
});
