import { expect, test } from "vitest";
import { advertised } from "../../../../src/frontends/acp/session/slash-commands.ts";
import { createSession } from "../../../../src/sdk/browser.ts";
import { createFakeBackend, obliging } from "../../../sdk/fakes/fake-backend.ts";

test("a backend's commands are typeable words, with one line about each", async () => {
  const commands = [
    { name: "/review", description: "Look\nat \u202eit" },
    { name: "long", description: `${"x".repeat(199)}\u{1f600}` },
    { name: "bare" },
    ...["", "/", "two words", "a\nb", "hid\u200bden", "x".repeat(201), 7, null].map((name) => ({ name })),
    null,
  ];
  const { connect } = createFakeBackend({ ...obliging, "droid.list_commands": () => ({ commands }) });
  const session = await createSession({ connect });
  const ours = (await advertised(undefined)).length;
  expect((await advertised(session)).slice(0, -ours)).toEqual([
    { name: "review", description: "Look at \\u{202e}it" },
    { name: "long", description: `${"x".repeat(199)}…` },
    { name: "bare", description: "bare" },
  ]);
  await session.close();
});
