import { chmod, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Identity } from "../../src/access/identity.ts";
import { authOf } from "../../src/commands/serve/serve-users.ts";
import { hashOf, newToken } from "../../src/server/token-file.ts";
import { bearer, closeOf, newHome, type Served, serve, until } from "./served.ts";

/** Revoking a token takes effect at once, even for connections that it opened. */

interface Bench extends Served {
  /** Users that lost a token without another one with the same rights. */
  readonly gone: readonly Identity[];
  readonly configFile: string;
  write(...users: readonly string[]): Promise<void>;
  code(token: string): Promise<number>;
}

const user = (name: string, role: string, ...tokens: readonly string[]): string => bounded({}, name, role, ...tokens);
const bounded = (ceilings: object, name: string, role: string, ...tokens: readonly string[]): string =>
  JSON.stringify({ name, role, tokens: tokens.map(hashOf), ...ceilings });

async function bench(): Promise<Bench> {
  const home = await newHome();
  const configFile = join(home, "config.yaml");
  const write = async (...users: readonly string[]): Promise<void> => {
    await writeFile(`${configFile}.new`, `serve: { users: [${users.join(", ")}] }\n`);
    await rename(`${configFile}.new`, configFile);
  };
  await write(user("ann", "user", "one", "two"), user("bob", "viewer", "three"));
  const gone: Identity[] = [];
  const served = await serve({
    home,
    loadUsers: authOf(home, configFile).users.load,
    lookEveryMs: 10,
    onUserGone: (who) => void gone.push(who),
  });
  const code = async (token: string): Promise<number> =>
    (await served.ask("/healthz", { headers: bearer(token) })).code;
  return { ...served, gone, configFile, write, code };
}

const revoked = { code: 1008, reason: "token revoked" };

test("removing a token from the configuration closes only its connections", async () => {
  const { open, write, code, seen, log } = await bench();
  const one = await open("/ws", { token: "one" });
  const others = await Promise.all(["two", "three", undefined].map((token) => open("/ws", { token })));
  const closed = [closeOf(one), closeOf(await open("/rpc", { token: "one" }))];
  await write(user("ann", "user", "two"), user("bob", "viewer", "three"));
  expect(await Promise.all(closed)).toEqual([revoked, revoked]);
  expect(await Promise.all(["one", "two", "three"].map(code))).toEqual([401, 200, 200]);
  expect(others.map((socket) => socket.readyState)).toEqual([1, 1, 1]);
  const ended = seen.filter(({ calls }) => calls.includes("closed"));
  await until(() => ended.every(({ calls }) => calls.includes("end")));
  expect(ended.map(({ identity }) => identity.user)).toEqual(["ann", "ann"]);
  expect(log().filter(({ event }) => event === "token.revoked")).toMatchObject([{ user: "ann", role: "user" }]);
});

test("a disconnected client is not read any more, even if it does not answer the close", async () => {
  const { open, write, seen } = await bench();
  const socket = await open("/ws", { token: "three" });
  socket.pause();
  socket.send("before");
  await until(() => seen[0]?.lines.length === 1);
  await write();
  await until(() => seen[0]?.calls.includes("closed") === true);
  socket.send("after");
  await until(() => seen[0]?.calls.includes("end") === true);
  expect(seen[0]?.lines).toEqual(["before"]);
});

test("another role for a token closes its connections: it returns with the new one", async () => {
  const { open, write, seen } = await bench();
  const closed = closeOf(await open("/ws", { token: "one" }));
  await write(user("ann", "viewer", "one", "two"));
  expect(await closed).toEqual(revoked);
  await open("/ws", { token: "one" });
  expect(seen.map(({ identity }) => identity.role)).toEqual(["user", "viewer"]);
});

test("other ceilings for a user close their connections: they return with the new ones", async () => {
  const { open, write, seen, gone } = await bench();
  const bob = user("bob", "viewer", "three");
  const closed = closeOf(await open("/ws", { token: "one" }));
  await write(bounded({ autonomy: "low" }, "ann", "user", "one"), bob);
  expect(await closed).toEqual(revoked);
  const again = closeOf(await open("/ws", { token: "one" }));
  await write(user("ann", "user", "one"), bob);
  expect(await again).toEqual(revoked);
  const ann = { user: "ann", role: "user" };
  const low = { ...ann, ceilings: { autonomy: "low" } };
  expect(seen.map(({ identity }) => identity)).toEqual([ann, low]);
  // One token was removed along with the change; without ceilings, a user has at least the same rights as before.
  expect(gone).toEqual([ann, ann]);
});

test("a revoked identity is never used again, not even for the same token", async () => {
  const { open, write, seen, gone, code } = await bench();
  const [ann, bob] = [user("ann", "user", "one"), user("bob", "viewer", "three")];
  const closed = closeOf(await open("/ws", { token: "one" }));
  await write(bob);
  expect(await closed).toEqual(revoked);
  await write(ann, bob);
  await until(async () => (await code("one")) === 200);
  await open("/ws", { token: "one" });
  const [before, after] = seen.map(({ identity }) => identity);
  expect([gone.some((one) => one === before), gone.some((one) => one === after)]).toEqual([true, false]);
  expect(after).toEqual(before);
});

test("another user for a token closes its connections", async () => {
  const { open, write } = await bench();
  const closed = closeOf(await open("/ws", { token: "one" }));
  await write(user("eve", "user", "one"));
  expect(await closed).toEqual(revoked);
});

test("a cookie and a link end with their token", async () => {
  const { ask, write, code, open } = await bench();
  const link = async (): Promise<string> => {
    const { body } = await ask("/links", { method: "POST", headers: bearer("one") });
    return (JSON.parse(body) as { url: string }).url.replace(/^.*(?=\/enter)/, "");
  };
  const Cookie = (await ask(await link())).headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  const unused = await link();
  const closed = closeOf(await open("/ws", { token: "", headers: { Cookie } }));
  expect((await ask("/", { headers: { Cookie } })).code).toBe(200);
  await write(user("ann", "user", "two"));
  expect(await closed).toEqual(revoked);
  expect([(await ask("/", { headers: { Cookie } })).code, (await ask(unused)).code]).toEqual([401, 401]);
  // The same token later does not revive an old cookie.
  await write(user("ann", "user", "one"));
  await until(async () => (await code("one")) === 200);
  expect((await ask("/", { headers: { Cookie } })).code).toBe(401);
});

test("a new user needs no restart", async () => {
  const { write, code } = await bench();
  expect(await code("four")).toBe(401);
  await write(user("ann", "user", "one", "two"), user("dan", "admin", "four"));
  await until(async () => (await code("four")) === 200);
  expect(await code("one")).toBe(200);
});

test("an unreadable configuration changes no one, and is reported once; a missing one has no users", async () => {
  const { open, configFile, code, log, write } = await bench();
  const socket = await open("/ws", { token: "one" });
  await writeFile(configFile, "serve: { users: [{ name: ann }] }\n");
  const told = () => log().filter(({ event }) => event === "users.unusable");
  await until(() => told().length > 0);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([told().length, await code("one"), socket.readyState]).toEqual([1, 200, 1]);
  expect(told()[0]).toMatchObject({ level: "error", reason: `${configFile}: serve.users.0.role: is missing` });
  const closed = closeOf(socket);
  await rm(configFile);
  expect(await closed).toEqual(revoked);
  expect(await code("one")).toBe(401);
  await write(user("ann", "user", "one"));
  await until(async () => (await code("one")) === 200);
});

test("this machine's own token is replaced with its file", async () => {
  const { home, open, token, code } = await bench();
  const closed = closeOf(await open());
  const fresh = newToken();
  await writeFile(join(home, "new"), fresh, { mode: 0o600 });
  await rename(join(home, "new"), join(home, "serve-token"));
  expect(await closed).toEqual(revoked);
  expect([await code(token), await code(fresh), await code("one")]).toEqual([401, 200, 200]);
});

test("detects an in-place edit that keeps the size", async () => {
  const { home, open, code } = await bench();
  const path = join(home, "serve-token");
  const closed = closeOf(await open());
  const fresh = newToken();
  await writeFile(path, `${fresh}\n`);
  expect(await closed).toEqual(revoked);
  // The file is empty for a moment, which counts as one check.
  await until(async () => (await code(fresh)) === 200);
});

test.each([
  ["is deleted", (path: string) => rm(path)],
  ["can be read by others", (path: string) => chmod(path, 0o640)],
  ["has no token", (path: string) => writeFile(path, "x")],
])("this machine's own token is missing if its file %s", async (_, spoil) => {
  const { home, open, token, code } = await bench();
  const closed = closeOf(await open());
  await spoil(join(home, "serve-token"));
  expect(await closed).toEqual(revoked);
  expect([await code(token), await code("one")]).toEqual([401, 200]);
});

test("the token is created at the first start, only for its owner, and stays the same", async () => {
  const home = join(await newHome(), "deeper", "home");
  const loadUsers = async () => [];
  const first = await serve({ home, loadUsers });
  const { mode } = await stat(join(home, "serve-token"));
  expect([mode & 0o777, (await stat(home)).mode & 0o777, /^[\w-]{43}$/.test(first.token)]).toEqual([
    0o600,
    0o700,
    true,
  ]);
  expect((await serve({ home, loadUsers })).token).toBe(first.token);
});

test("servers that start together share one token", async () => {
  const home = await newHome();
  const served = await Promise.all(Array.from({ length: 5 }, () => serve({ home, loadUsers: async () => [] })));
  expect(new Set(served.map(({ token }) => token)).size).toBe(1);
  for (const { ask, token } of served) expect((await ask("/healthz", { headers: bearer(token) })).code).toBe(200);
});

test.each([
  [
    "others can read it",
    (path: string) => writeFile(path, newToken(), { mode: 0o644 }),
    "can be read by others (mode 0644)",
  ],
  ["it is a link", (path: string) => symlink("/dev/zero", path), "is a link, but must be a plain file"],
  ["it is a dangling link", (path: string) => symlink("nowhere", path), "is a link, but must be a plain file"],
  ["it is too short", (path: string) => writeFile(path, "secret", { mode: 0o600 }), "holds no token"],
])("no server starts with a token file if %s", async (_, make, words) => {
  const home = await newHome();
  const path = join(home, "serve-token");
  await make(path);
  await expect(serve({ home })).rejects.toMatchObject({
    code: "config_invalid",
    message: `${path} ${words}. Delete it, and a new one will be created.`,
  });
});
