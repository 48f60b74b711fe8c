import { expect, test } from "vitest";
import { createCookies } from "../../src/server/cookies.ts";
import { bearer, type Served, serve, tokens, upgradeCode } from "./served.ts";

/** A browser enters with a one-time link, and never gets more rights than the link's creator. */

async function linkOf({ ask }: Served, token: string, headers: Record<string, string> = {}): Promise<string> {
  const { code, body } = await ask("/links", { method: "POST", headers: { ...bearer(token), ...headers } });
  expect(code).toBe(200);
  return (JSON.parse(body) as { url: string }).url;
}

async function enter({ ask }: Served, link: string) {
  const { pathname, search } = new URL(link);
  const { code, headers, body } = await ask(`${pathname}${search}`);
  return { code, cookie: headers["set-cookie"]?.[0], location: headers.location, body };
}

const cookieIn = (setCookie: string | undefined): Record<string, string> => ({
  Cookie: `theme=dark; ${setCookie?.split(";")[0]}; other=1`,
});

test("a link gives a cookie with its creator's rights", async () => {
  const served = await serve();
  const link = await linkOf(served, tokens.ann);
  expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${served.port}/enter\\?code=[\\w-]{43}$`));
  const { code, cookie, location, body } = await enter(served, link);
  // No redirect: from another site's page, the browser would not send the strict cookie.
  expect({ code, location, body, cookie: cookie?.replace(/=[\w-]{43};/, "=…;") }).toEqual({
    code: 200,
    location: undefined,
    body: expect.stringContaining('<meta http-equiv="refresh" content="0;url=/">'),
    cookie: `tinman-${served.port}=…; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict`,
  });
  const headers = cookieIn(cookie);
  expect((await served.ask("/", { headers })).code).toBe(200);
  expect((await served.ask("/metrics", { headers })).code).toBe(403);
  expect(await upgradeCode(served, "/ws", headers)).toBe(101);
  expect(served.seen.map(({ identity }) => identity)).toEqual([{ user: "ann", role: "user" }]);
});

test("two servers on one host keep each other's cookies", async () => {
  const both = [await serve(), await serve()];
  const cookies = await Promise.all(
    both.map(async (served) => (await enter(served, await linkOf(served, served.token))).cookie?.split(";")[0] ?? ""),
  );
  // A browser stores them by name, and sends all of them to both.
  const jar = new Map(cookies.map((cookie) => cookie.split("=", 2) as [string, string]));
  const headers = { Cookie: [...jar].map((pair) => pair.join("=")).join("; ") };
  const codes = await Promise.all(both.map(async (served) => (await served.ask("/", { headers })).code));
  expect(codes).toEqual([200, 200]);
});

test("a link works once", async () => {
  const served = await serve();
  const link = await linkOf(served, served.token);
  const both = await Promise.all([enter(served, link), enter(served, link)]);
  expect(both.map(({ code }) => code).sort()).toEqual([200, 401]);
  expect(await enter(served, link)).toEqual({
    code: 401,
    cookie: undefined,
    location: undefined,
    body: "This link was already used or has expired.\n",
  });
});

test("a link preview does not consume a link", async () => {
  const served = await serve();
  const link = await linkOf(served, served.token);
  const { pathname, search } = new URL(link);
  const { code, headers } = await served.ask(`${pathname}${search}`, { method: "HEAD" });
  expect([code, headers.allow, headers["set-cookie"]]).toEqual([405, "GET", undefined]);
  expect((await enter(served, link)).code).toBe(200);
});

test("a link works for a minute, a cookie for thirty days", async () => {
  let now = 1_000_000;
  const served = await serve({ now: () => now });
  const [early, late] = [await linkOf(served, served.token), await linkOf(served, served.token)];
  now += 59_999;
  const { cookie } = await enter(served, early);
  now += 1;
  expect((await enter(served, late)).code).toBe(401);
  now += 30 * 24 * 3_600_000 - 2;
  expect((await served.ask("/", { headers: cookieIn(cookie) })).code).toBe(200);
  now += 1;
  expect((await served.ask("/", { headers: cookieIn(cookie) })).code).toBe(401);
});

test.each(["", "?code=", "?code=x", "?Code=1", "?code[]=1"])("/enter%s is rejected, and logged", async (query) => {
  const served = await serve();
  expect((await served.ask(`/enter${query}`)).code).toBe(401);
  expect(served.log()).toMatchObject([
    { level: "warn", event: "access.refused", reason: "code", code: 401, method: "GET", path: "/enter" },
  ]);
});

test("a cookie cannot create further links, so nothing outlives its thirty days", async () => {
  const served = await serve();
  const { cookie } = await enter(served, await linkOf(served, served.token));
  expect((await served.ask("/links", { method: "POST", headers: cookieIn(cookie) })).code).toBe(403);
  expect((await served.ask("/links", { method: "POST" })).code).toBe(401);
});

test("a link cannot get more rights than its creator", async () => {
  const served = await serve();
  const { body } = await served.ask("/links?role=admin&user=local", {
    method: "POST",
    headers: { ...bearer(tokens.vic), "X-Role": "admin" },
  });
  const { cookie } = await enter(served, (JSON.parse(body) as { url: string }).url);
  await served.open("/ws", { token: "", headers: cookieIn(cookie) });
  expect(served.seen.map(({ identity }) => identity)).toEqual([{ user: "vic", role: "viewer" }]);
});

test("another site's page that gets the cookie sent achieves nothing", async () => {
  const served = await serve();
  const { cookie } = await enter(served, await linkOf(served, served.token));
  const headers = { ...cookieIn(cookie), Origin: "http://localhost:9999" };
  expect([await upgradeCode(served, "/ws", headers), (await served.ask("/", { headers })).code]).toEqual([403, 403]);
});

test("behind a TLS proxy, the link points there, and its cookie needs TLS", async () => {
  const served = await serve({ hosts: ["agent.example.org"], origins: ["https://agent.example.org"] });
  const link = await linkOf(served, served.token, { Host: "agent.example.org" });
  expect(link).toMatch(/^https:\/\/agent\.example\.org\/enter\?code=/);
  expect((await enter(served, link)).cookie).toMatch(/; Secure$/);
  // A header that anyone can send decides nothing.
  const plain = await linkOf(served, served.token, {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil.example",
  });
  expect(plain).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect((await enter(served, plain)).cookie).not.toMatch(/Secure/);
});

test("the log has neither tokens nor codes nor cookies", async () => {
  const served = await serve();
  const link = await linkOf(served, served.token);
  const { cookie } = await enter(served, link);
  await enter(served, link);
  await served.ask(`/nothing?token=${served.token}`, { headers: bearer(served.token) });
  await served.ask("/links", { method: "POST", headers: cookieIn(cookie) });
  await served.open("/ws");
  const log = JSON.stringify(served.log());
  const secrets = [served.token, new URL(link).searchParams.get("code") ?? "", cookie?.split(/[=;]/)[1] ?? ""];
  expect(secrets.map((secret) => [secret.length, log.includes(secret)])).toEqual(secrets.map(() => [43, false]));
  expect(served.log().length).toBeGreaterThan(2);
});

test("a user's links and cookies only push out their own", () => {
  const cookies = createCookies({ port: () => 8_000 });
  const [ann, vic] = (["ann", "vic"] as const).map(
    (user) => ({ hash: user, identity: { user, role: "viewer" } }) as const,
  );
  if (ann === undefined || vic === undefined) throw new Error("there are two");
  const link = (of: typeof ann): string => cookies.link(of, "http://localhost");
  const enter = (code: string): string[] => [cookies.enter(code)?.split(";")[0] ?? ""];
  const entered = enter(link(ann));
  const waiting = link(ann);
  const links = Array.from({ length: 1_001 }, () => link(vic));
  expect([links.at(-11), links.at(-10), links.at(-1)].map((code = "") => cookies.enter(code) !== undefined)).toEqual([
    false,
    true,
    true,
  ]);
  const many = Array.from({ length: 10_001 }, () => enter(link(vic)));
  expect(
    [many.at(-101), many.at(-100), many.at(-1), entered].map((one = []) => cookies.find(one)?.identity.user),
  ).toEqual([undefined, "vic", "vic", "ann"]);
  expect(cookies.enter(waiting)).toBeDefined();
});
