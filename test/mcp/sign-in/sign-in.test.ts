import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browse } from "./browser.ts";
import {
  type AuthorizationServer,
  openHome,
  type ProtectedServer,
  redirectOfClient,
  serverOf,
  signInWithBrowser,
  start,
  startAfterRefusal,
  startAuthorizationServer,
  startProtectedServer,
  toolsOf,
} from "./world.ts";

let authority: AuthorizationServer;
let server: ProtectedServer;

beforeAll(async () => {
  authority = await startAuthorizationServer();
  server = await startProtectedServer(authority);
});

afterAll(async () => {
  await server.close();
  await authority.close();
});

const success = { outcome: "success", message: "Signed in to protected." };

describe("a whole sign-in", () => {
  it("finds the authorization server, registers, and gets tokens that the server accepts", async () => {
    const own = await openHome();
    const signIn = serverOf(own, server.url);
    expect(await signIn.hasTokens()).toBe(false);
    authority.seen.length = 0;

    const { pending, ended } = await startAfterRefusal(server.url, signIn);
    const { searchParams } = new URL(pending.url);
    expect({
      message: pending.message,
      state: searchParams.get("state") === pending.state,
      method: searchParams.get("code_challenge_method"),
      resource: searchParams.get("resource"),
      scope: searchParams.get("scope"),
      redirect: searchParams.get("redirect_uri"),
    }).toEqual({
      message: "Authentication required for protected",
      state: true,
      method: "S256",
      resource: server.url,
      scope: "tools offline_access",
      redirect: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    });
    expect(signIn.pending).toEqual(pending);

    const page = await fetch(await browse(pending.url));
    expect({ status: page.status, text: await page.text(), type: page.headers.get("content-type") }).toEqual({
      status: 200,
      text: "You are signed in. You can close this page.\n",
      type: "text/plain; charset=utf-8",
    });
    expect(await ended).toEqual(success);
    expect([await signIn.hasTokens(), signIn.pending, authority.seen]).toEqual([
      true,
      undefined,
      ["registration", "authorization_code"],
    ]);
    expect(await toolsOf(server.url, signIn)).toEqual(["echo"]);

    const path = join(own.home, "mcp", "tokens.json");
    expect([(await stat(path)).mode & 0o777, (await stat(join(own.home, "mcp"))).mode & 0o777]).toEqual([0o600, 0o700]);
    await expect(fetch(searchParams.get("redirect_uri") ?? "")).rejects.toThrow("fetch failed");
  });

  it("uses the tokens in later processes, and the registration in later sign-ins", async () => {
    const own = await openHome();
    await signInWithBrowser(server.url, serverOf(own, server.url));
    const later = await openHome({ home: own.home });
    expect(await toolsOf(server.url, serverOf(later, server.url))).toEqual(["echo"]);
    authority.seen.length = 0;
    const { pending, ended } = await start(serverOf(later, server.url));
    await fetch(await browse(pending.url));
    expect([await ended, authority.seen]).toEqual([success, ["authorization_code"]]);
  });

  it("uses a configured client, and the callback address of a client of ours", async () => {
    const own = await openHome();
    const oauth = {
      clientId: "configured",
      clientSecret: "configured-secret-1",
      authMethod: "client_secret_post",
    } as const;
    const signIn = serverOf(own, server.url, { ...oauth, scopes: ["tools"] }, redirectOfClient);
    authority.seen.length = 0;
    const { pending, ended } = await startAfterRefusal(server.url, signIn);
    const answer = new URL(await browse(pending.url));
    expect(`${answer.origin}${answer.pathname}`).toBe(redirectOfClient);
    const [code, state] = [answer.searchParams.get("code") ?? "", answer.searchParams.get("state") ?? ""];
    expect(await signIn.finish("another-state", { code })).toBe(false);
    expect(await signIn.finish(state, { code })).toBe(true);
    expect(await ended).toEqual(success);
    expect(await signIn.finish(state, { code })).toBe(false);
    expect([await toolsOf(server.url, signIn), authority.seen]).toEqual([["echo"], ["authorization_code"]]);
    expect(await readFile(join(own.home, "mcp", "tokens.json"), "utf8")).not.toContain("configured-secret-1");
    // The tokens belong to that client.
    expect(await serverOf(own, server.url, { clientId: "another" }).hasTokens()).toBe(false);
  });
});

describe("tokens that end", () => {
  it("are refreshed before they expire", async () => {
    const own = await openHome();
    const signIn = serverOf(own, server.url);
    await signInWithBrowser(server.url, signIn);
    authority.seen.length = 0;
    server.used.length = 0;
    await toolsOf(server.url, signIn);
    own.clock.advance(3_545_000);
    await toolsOf(server.url, signIn);
    expect([authority.seen, server.used.length]).toEqual([["refresh_token"], 2]);
  });

  it("are refreshed when the server refuses them", async () => {
    const own = await openHome();
    const signIn = serverOf(own, server.url);
    await signInWithBrowser(server.url, signIn);
    server.used.length = 0;
    await toolsOf(server.url, signIn);
    await (await authority.provider.AccessToken.find(server.used[0] ?? ""))?.destroy();
    own.clock.advance(10_000);
    authority.seen.length = 0;
    expect([await toolsOf(server.url, signIn), authority.seen]).toEqual([["echo"], ["refresh_token"]]);
  });

  it("are refreshed once by sessions that need them at the same time", async () => {
    const own = await openHome();
    await signInWithBrowser(server.url, serverOf(own, server.url));
    own.clock.advance(3_700_000);
    authority.seen.length = 0;
    const sessions = Array.from({ length: 4 }, () => serverOf(own, server.url).authProvider.token());
    expect([new Set(await Promise.all(sessions)).size, authority.seen]).toEqual([1, ["refresh_token"]]);
  });

  it("are refreshed once by processes that need them at the same time", async () => {
    const { home, clock, signIns } = await openHome();
    await signInWithBrowser(server.url, signIns.forServer("protected", server.url));
    clock.advance(3_700_000);
    authority.seen.length = 0;
    // As in other processes: they share nothing but the home.
    const others = await Promise.all([1, 2, 3].map(() => openHome({ home, time: clock })));
    const tokens = others.map((other) => serverOf(other, server.url).authProvider.token());
    expect([new Set(await Promise.all(tokens)).size, authority.seen]).toEqual([1, ["refresh_token"]]);
  });

  it("ask for a sign-in if the refresh is refused", async () => {
    const own = await openHome();
    const signIn = serverOf(own, server.url);
    await signInWithBrowser(server.url, signIn);
    // Whoever uses an old refresh token again has its whole grant revoked.
    const path = join(own.home, "mcp", "tokens.json");
    const { servers } = JSON.parse(await readFile(path, "utf8"));
    own.clock.advance(3_700_000);
    const used = {
      grant_type: "refresh_token",
      refresh_token: servers[0].tokens.refresh,
      client_id: servers[0].client.id,
    };
    for (const _ of [1, 2])
      await fetch(`${authority.issuer}/token`, { method: "POST", body: new URLSearchParams(used) });
    const failure = await toolsOf(server.url, signIn).catch((error: unknown) => error);
    expect([await signIn.isNeeded(failure), await signIn.hasTokens()]).toEqual([true, false]);
  });

  it("ask for a sign-in with more scopes if the server needs them", async () => {
    const own = await openHome();
    const signIn = serverOf(own, server.url);
    await signInWithBrowser(server.url, signIn);
    server.scope = "admin";
    try {
      const { pending } = await startAfterRefusal(server.url, signIn);
      expect(new URL(pending.url).searchParams.get("scope")?.split(" ").sort()).toEqual([
        "admin",
        "offline_access",
        "tools",
      ]);
    } finally {
      server.scope = "tools";
    }
  });

  it("are removed by signing out, for every address of the name", async () => {
    const own = await openHome();
    const signIn = serverOf(own, server.url);
    await signInWithBrowser(server.url, signIn);
    expect([await signIn.forget(), await signIn.hasTokens(), await signIn.forget()]).toEqual([true, false, false]);
    expect(JSON.parse(await readFile(join(own.home, "mcp", "tokens.json"), "utf8"))).toEqual({
      version: 1,
      servers: [],
    });
  });
});

describe("a sign-in that does not succeed", () => {
  it("refuses answers with another state, and waits for the right one", async () => {
    const signIn = serverOf(await openHome(), server.url);
    const { pending, ended } = await startAfterRefusal(server.url, signIn);
    const answer = new URL(await browse(pending.url));
    const wrong = new URL(answer);
    wrong.searchParams.set("state", `${pending.state.slice(0, -1)}_`);
    const page = await fetch(wrong);
    expect([page.status, await page.text()]).toEqual([
      400,
      "Tinman is not waiting for this sign-in. Start it again.\n",
    ]);
    expect((await fetch(answer)).status).toBe(200);
    expect(await ended).toEqual(success);
  });

  it("ends when the user declines", async () => {
    const signIn = serverOf(await openHome(), server.url);
    const { pending, ended } = await startAfterRefusal(server.url, signIn);
    const page = await fetch(await browse(pending.url, { declines: true }));
    expect(await page.text()).toBe("The sign-in did not succeed. Tinman shows the reason. You can close this page.\n");
    expect(await ended).toEqual({ outcome: "failed", message: "Sign-in to protected failed: access was denied." });
  });

  it("ends when it is cancelled", async () => {
    const signIn = serverOf(await openHome(), server.url);
    const { pending, ended } = await startAfterRefusal(server.url, signIn);
    expect([await signIn.cancel(), await ended, await signIn.cancel()]).toEqual([
      true,
      { outcome: "cancelled", message: "Sign-in to protected was cancelled." },
      false,
    ]);
    expect(await signIn.finish(pending.state, { code: "late" })).toBe(false);
  });

  it("ends after five minutes", async () => {
    const own = await openHome();
    const { ended } = await startAfterRefusal(server.url, serverOf(own, server.url));
    own.clock.advance(300_000);
    expect(await ended).toEqual({
      outcome: "failed",
      message: "Sign-in to protected failed: it was not completed within 5 minutes.",
    });
  });

  it("ends when the code is not valid", async () => {
    const signIn = serverOf(await openHome(), server.url);
    const { pending, ended } = await startAfterRefusal(server.url, signIn);
    await signIn.finish(pending.state, { code: "not-a-code-of-this-server" });
    expect(await ended).toEqual({
      outcome: "failed",
      message:
        "Sign-in to protected failed: the authorization server refused the request (invalid_grant: grant request is invalid).",
    });
  });

  it("ends when the answer comes from another issuer", async () => {
    const signIn = serverOf(await openHome(), server.url);
    const { pending, ended } = await startAfterRefusal(server.url, signIn);
    const answer = new URL(await browse(pending.url));
    answer.searchParams.set("iss", "https://other.example");
    await fetch(answer);
    expect(await ended).toEqual({
      outcome: "failed",
      message: "Sign-in to protected failed: the answer came from another authorization server.",
    });
  });
});

describe("several sign-ins", () => {
  it("are independent, and a second start joins the first", async () => {
    const own = await openHome();
    const [one, two] = ["one", "two"].map((name) => own.signIns.forServer(name, server.url));
    if (one === undefined || two === undefined) throw new Error("Two servers.");
    const [first, second] = [await startAfterRefusal(server.url, one), await startAfterRefusal(server.url, two)];
    const joined = await start(own.signIns.forServer("one", server.url));
    expect([joined.pending, first.pending.state === second.pending.state]).toEqual([first.pending, false]);
    await two.cancel();
    await fetch(await browse(first.pending.url));
    expect([await first.ended, await joined.ended, (await second.ended).outcome]).toEqual([
      { outcome: "success", message: "Signed in to one." },
      { outcome: "success", message: "Signed in to one." },
      "cancelled",
    ]);
  });

  it("end with the last session that waits", async () => {
    const own = await openHome();
    const [one, two] = [serverOf(own, server.url), serverOf(own, server.url)];
    const first = await startAfterRefusal(server.url, one);
    const second = await start(two);
    one.close();
    expect(two.pending).toEqual(first.pending);
    two.close();
    expect([(await first.ended).outcome, (await second.ended).outcome]).toEqual(["cancelled", "cancelled"]);
  });
});
