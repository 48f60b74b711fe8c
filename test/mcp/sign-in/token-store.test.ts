import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import { createWithLock } from "../../../src/mcp/sign-in/lock.ts";
import { createSignIns } from "../../../src/mcp/sign-in/sign-ins.ts";
import type { StoredSignIn } from "../../../src/mcp/sign-in/stored-sign-ins.ts";
import { createTokenStore, type TokenStore } from "../../../src/mcp/sign-in/token-store.ts";
import { bundleForChild } from "../../fakes/bundle-for-child.ts";
import { FakeClock } from "../../fakes/kit.ts";
import { closed, reading, writing } from "../../permissions/at-high.ts";
import { decisionOn } from "../../permissions/class-of.ts";
import { startChild } from "../../store/child.ts";
import { tempHome } from "../../store/temp-home.ts";

const key = { name: "linear", url: "https://mcp.example/mcp" };
const tokens = { issuer: "https://auth.example", clientId: "client", access: "access-1", refresh: "r", issuedAt: 5 };
const entry: StoredSignIn = { ...key, tokens };

async function openStore(): Promise<{ store: TokenStore; home: string; path: string }> {
  const home = await tempHome();
  const store = createTokenStore(home, createWithLock(new FakeClock()));
  return { store, home, path: join(home, "mcp", "tokens.json") };
}

describe("the store of tokens", () => {
  it("keeps entries by name and address, in a private file", async () => {
    const { store, home, path } = await openStore();
    expect([await store.read(key), await store.removeAll("linear"), await readdir(home)]).toEqual([
      undefined,
      false,
      [],
    ]);
    await store.update(key, () => entry);
    expect([
      await store.read(key),
      await store.read({ ...key, url: "https://evil.example/mcp" }),
      await store.read({ ...key, name: "other" }),
      (await stat(path)).mode & 0o777,
      await readdir(join(home, "mcp")),
    ]).toEqual([entry, undefined, undefined, 0o600, ["tokens.json"]]);
    await chmod(join(home, "mcp"), 0o755);
    await store.update({ ...key, url: "https://mcp.example/v2" }, () => ({ ...entry, url: "https://mcp.example/v2" }));
    expect((await stat(join(home, "mcp"))).mode & 0o777).toBe(0o700);
    expect([await store.removeAll("linear"), await store.read(key)]).toEqual([true, undefined]);
  });

  it("loses no entry when processes write at the same time", async () => {
    const { store, home } = await openStore();
    const writer = await bundleForChild(fileURLToPath(new URL("store-writer.ts", import.meta.url)), home);
    const names = ["a", "b", "c"];
    const children = names.map((name) => startChild(writer, home, name, "8"));
    await Promise.all(children.map((child) => child.exitCode()));
    const stored = names.flatMap((name) =>
      Array.from({ length: 8 }, (_, number) => ({ ...key, name: `${name}-${number}` })),
    );
    expect((await Promise.all(stored.map((each) => store.read(each)))).filter((each) => each === undefined)).toEqual(
      [],
    );
    expect(await readdir(join(home, "mcp"))).toEqual(["tokens.json"]);
  });

  it("removes the draft of a process that was killed", async () => {
    const { store, home } = await openStore();
    await mkdir(join(home, "mcp"));
    await writeFile(join(home, "mcp", "tokens.json.1.draft"), "access");
    await store.update(key, () => entry);
    expect(await readdir(join(home, "mcp"))).toEqual(["tokens.json"]);
  });

  it.each<[what: string, text: string, words: string]>([
    ["is not JSON", '{"version": 1, "servers": [', "is damaged. Delete it, and sign in again."],
    ["is empty", "", "is damaged. Delete it, and sign in again."],
    [
      "has a damaged entry",
      '{"version":1,"servers":[{"name":"x","url":"y","tokens":{}}]}',
      "is damaged. Delete it, and sign in again.",
    ],
    ["is of a later version", '{"version":2,"servers":[]}', "was written by a later version of Tinman. Update Tinman."],
  ])("never overwrites a file that %s", async (_, text, words) => {
    const { store, home, path } = await openStore();
    await mkdir(join(home, "mcp"));
    await writeFile(path, text, { mode: 0o600 });
    const fault = new AgentError("config_invalid", `${path} ${words}`);
    await expect(store.read(key)).rejects.toEqual(fault);
    await expect(store.update(key, () => entry)).rejects.toEqual(fault);
    await expect(store.removeAll("linear")).rejects.toEqual(fault);
    expect(await readFile(path, "utf8")).toBe(text);
    // A sign-in says so before the user does anything.
    const fetch = async () => {
      throw new Error("nothing is asked");
    };
    const signIns = createSignIns({ home, clock: new FakeClock(), fetch });
    const signIn = signIns.forServer("linear", key.url);
    expect([await signIn.hasTokens(), await signIn.start(() => {})]).toEqual([
      false,
      { outcome: "failed", message: `Sign-in to linear failed: ${path} ${words}` },
    ]);
  });

  it("refuses a file that others can read, and a link", async () => {
    const { store, home, path } = await openStore();
    await store.update(key, () => entry);
    await chmod(path, 0o644);
    await expect(store.read(key)).rejects.toThrow(`${path} can be read by others. Run: chmod 600 ${path}.`);
    const other = await openStore();
    await mkdir(join(other.home, "mcp"));
    await symlink(path, other.path);
    await expect(other.store.read(key)).rejects.toThrow(
      `${other.path} is a link, but must be a plain file. Delete it.`,
    );
    expect(home).not.toBe(other.home);
  });

  it("is out of reach of the model's tools", async () => {
    const path = "/home/u/.tinman/mcp/tokens.json";
    const command = async (text: string) => {
      const { verdict, rule } = await decisionOn(text, { autonomy: "high", approver: false });
      return `${verdict} ${rule}`;
    };
    expect([
      reading(path),
      writing(path),
      await command("cat /home/nobody-at-all/.tinman/mcp/tokens.json"),
      await command("cp -r ~/.tinman/mcp /tmp/copy"),
    ]).toEqual([closed, closed, closed, closed]);
  });
});
