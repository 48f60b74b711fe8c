import { expect, it, onTestFinished } from "vitest";
import { type OpenSession, openSession } from "./sessions.ts";
import { browse } from "./sign-in/browser.ts";
import { openHome, startAuthorizationServer, startProtectedServer } from "./sign-in/world.ts";

async function world(canAsk: boolean): Promise<OpenSession> {
  const authority = await startAuthorizationServer();
  const server = await startProtectedServer(authority);
  onTestFinished(async () => {
    await server.close();
    await authority.close();
  });
  const { signIns } = await openHome();
  const session = openSession({
    canAsk,
    signIns: async () => signIns,
    given: { protected: { kind: "http", url: server.url, headers: {} } },
  });
  await session.settled();
  return session;
}

const common = { name: "protected", source: "client", kind: "http" };
const refused = {
  ...common,
  status: "failed",
  error: "The server needs a sign-in.",
  needsSignIn: true,
  hasTokens: false,
};
const connected = { ...common, status: "connected", toolCount: 1, hasTokens: true };

it("a server that needs a sign-in asks the user once, and connects after it", async () => {
  const session = await world(true);
  await session.until(() => session.events.some(({ type }) => type === "sign-in.required"));
  const required = session.events.find((event) => event.type === "sign-in.required");
  if (required?.type !== "sign-in.required") throw new Error("No sign-in is required.");
  const { url, message, state } = required;
  expect(required).toMatchObject({ server: "protected", message: "Authentication required for protected" });
  expect(session.servers.states()).toEqual([{ ...refused, signIn: { url, message, state } }]);
  expect(await session.servers.finishSignIn("protected", "another state", { code: "x" })).toBe(false);

  await fetch(await browse(url));
  await session.until(() => session.servers.states()[0]?.status === "connected");
  expect(session.servers.states()).toEqual([connected]);
  expect(session.events).toContainEqual({
    type: "sign-in.ended",
    server: "protected",
    outcome: "success",
    message: "Signed in to protected.",
  });
  expect(session.servers.list().map(({ name }) => name)).toEqual(["protected___echo"]);

  expect(await session.servers.forgetTokens("protected")).toBe(true);
  await session.settled();
  expect(session.servers.states()).toEqual([refused]);
  expect(session.events.filter(({ type }) => type === "sign-in.required")).toHaveLength(1);
});

it("without a client to ask, a sign-in begins on demand, and can be cancelled", async () => {
  const session = await world(false);
  expect(session.servers.states()).toEqual([refused]);
  expect(session.events.some(({ type }) => type === "sign-in.required")).toBe(false);
  const outcome = session.servers.signIn("protected");
  await session.until(() => session.events.some(({ type }) => type === "sign-in.required"));
  expect(await session.servers.cancelSignIn("protected")).toBe(true);
  expect(await outcome).toBe("cancelled");
  expect(session.servers.states()).toEqual([refused]);
  const unknown = ["signIn", "cancelSignIn", "forgetTokens"] as const;
  expect(await Promise.all(unknown.map((method) => session.servers[method]("other")))).toEqual([
    undefined,
    false,
    false,
  ]);
});
