import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rename, rm, stat, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { acquireLease } from "../../src/store/lease.ts";
import { bundleForChild } from "../fakes/bundle-for-child.ts";
import { isFullRun } from "../full-run.ts";
import { type Child, startChild } from "./child.ts";
import { opened, prompt } from "./sample-events.ts";
import { locksIn, tempHome } from "./temp-home.ts";

/** The parts of this process's lock name. */
async function ownParts(folder: string): Promise<{ pid: string; start: string; place: string }> {
  const lease = await acquireLease(folder, "probe");
  const [name = ""] = await readdir(folder);
  await lease.release();
  const [pid = "", start = "", place = ""] = name.slice("probe~".length).split("-");
  return { pid, start, place };
}

async function putLock(folder: string, name: string, ageMs = 0): Promise<void> {
  await writeFile(join(folder, name), "");
  const time = new Date(Date.now() - ageMs);
  await utimes(join(folder, name), time, time);
}

describe("a lease", () => {
  it("is one file, whose name identifies its owner", async () => {
    const folder = await tempHome();
    const lease = await acquireLease(folder, "s1");
    const names = await readdir(folder);
    expect(names).toEqual([expect.stringMatching(new RegExp(`^s1~${process.pid}-\\d+-[0-9a-f]{16}-[0-9a-f]+$`))]);
    await lease.release();
    await lease.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it("is independent of sessions with similar ids", async () => {
    const folder = await tempHome();
    const leases = await Promise.all(["s", "s1", "s1.a", "s1-1"].map((id) => acquireLease(folder, id)));
    expect(await readdir(folder)).toHaveLength(4);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it("is granted at most once within a process", async () => {
    const folder = await tempHome();
    const asked = await Promise.allSettled(Array.from({ length: 6 }, () => acquireLease(folder, "s1")));
    const given = asked.filter((result) => result.status === "fulfilled");
    expect(given.length).toBeLessThanOrEqual(1);
    expect(await readdir(folder)).toHaveLength(given.length);
    for (const { value } of given) await value.release();
  });

  it("is lost for an owner that was replaced during a suspend", async () => {
    const folder = await tempHome();
    let now = 0;
    const lease = await acquireLease(folder, "s1", { now: () => now });
    expect(lease.isLost()).toBe(false);
    now += 40_000;
    expect(lease.isLost()).toBe(false);
    const [name = ""] = await readdir(folder);
    await unlink(join(folder, name));
    expect(lease.isLost()).toBe(true);
    await lease.release();
  });

  it("that can't be removed is free for its own process, and is removed later", async () => {
    const folder = await tempHome();
    const link = join(await tempHome(), "link");
    const pointTo = async (target: string): Promise<void> => {
      await symlink(target, `${link}.next`);
      await rename(`${link}.next`, link);
    };
    await pointTo(folder);
    const lease = await acquireLease(link, "s1", { touchEveryMs: 20 });
    await pointTo(link);
    await lease.release();
    expect(await readdir(folder)).toHaveLength(1);
    await pointTo(folder);
    const next = await acquireLease(link, "s1");
    await next.release();
    await expect.poll(() => readdir(folder)).toEqual([]);
  });

  it("is taken over from a dead process", async () => {
    const folder = await tempHome();
    const { place } = await ownParts(folder);
    await putLock(folder, `s1~4194999-12345-${place}-aaaa`);
    const lease = await acquireLease(folder, "s1");
    expect(await readdir(folder)).toEqual([expect.stringContaining(`s1~${process.pid}-`)]);
    await lease.release();
  });

  // Other systems don't report a process's start time.
  const onLinux = it.runIf(process.platform === "linux");

  onLinux("is taken over from a dead process whose pid was reused", async () => {
    const folder = await tempHome();
    const { pid, start, place } = await ownParts(folder);
    await putLock(folder, `s1~${pid}-${Number(start) + 1}-${place}-aaaa`);
    const lease = await acquireLease(folder, "s1");
    expect(await readdir(folder)).toEqual([expect.stringContaining(`s1~${pid}-${start}-`)]);
    await lease.release();
  });

  onLinux("is taken over from a zombie", async () => {
    const folder = await tempHome();
    const { place } = await ownParts(folder);
    const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(parent, "close");
    try {
      const [line] = await once(parent.stdout, "data");
      const pid = Number(String(line).trim());
      const fields = async () => (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
      // Wait until its parent is `sleep`, which never reaps children.
      while ((await readFile(`/proc/${parent.pid}/comm`, "utf8")) !== "sleep\n") await pause(5);
      process.kill(pid, "SIGKILL");
      while ((await fields())[0] !== "Z") await pause(5);
      await putLock(folder, `s1~${pid}-${(await fields())[19]}-${place}-aaaa`);
      const lease = await acquireLease(folder, "s1");
      expect(await readdir(folder)).toEqual([expect.stringContaining(`s1~${process.pid}-`)]);
      await lease.release();
    } finally {
      parent.kill("SIGKILL");
      await closed;
    }
  });

  it("stays with a running process that has not touched its lock for long", async () => {
    const folder = await tempHome();
    const { pid, start, place } = await ownParts(folder);
    const name = `s1~${pid}-${start}-${place}-aaaa`;
    await putLock(folder, name, 10 * 60_000);
    await expect(acquireLease(folder, "s1")).rejects.toMatchObject({
      code: "session_in_use",
      message: `Session s1 is in use by process ${pid}.`,
    });
    expect(await readdir(folder)).toEqual([name]);
  });

  it("stays with an owner on another machine that touched it recently", async () => {
    const folder = await tempHome();
    const { pid } = await ownParts(folder);
    const name = `s1~${pid}-1-0123456789ab-aaaa`;
    await putLock(folder, name, 30_000);
    await expect(acquireLease(folder, "s1")).rejects.toMatchObject({
      code: "session_in_use",
      message: `Session s1 is in use by process ${pid} on another machine, or in another container.`,
    });
    expect(await readdir(folder)).toEqual([name]);
  });

  it("is taken over from an owner on another machine after a minute without a touch", async () => {
    const folder = await tempHome();
    const { pid, start } = await ownParts(folder);
    await putLock(folder, `s1~${pid}-${start}-0123456789ab-aaaa`, 61_000);
    const lease = await acquireLease(folder, "s1");
    expect(await readdir(folder)).toEqual([expect.not.stringContaining("0123456789ab")]);
    await lease.release();
  });

  it("with a time in the future expires a minute after the next attempt", async () => {
    const folder = await tempHome();
    const { pid } = await ownParts(folder);
    const name = `s1~${pid}-1-0123456789ab-aaaa`;
    await putLock(folder, name, -24 * 60 * 60_000);
    await expect(acquireLease(folder, "s1")).rejects.toMatchObject({ code: "session_in_use" });
    expect((await stat(join(folder, name))).mtimeMs).toBeLessThanOrEqual(Date.now());
    await putLock(folder, name, 61_000);
    await (await acquireLease(folder, "s1")).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it("ignores unrelated files", async () => {
    const folder = await tempHome();
    await writeFile(join(folder, "s1~notes"), "");
    await writeFile(join(folder, "README"), "");
    const lease = await acquireLease(folder, "s1");
    await lease.release();
    expect((await readdir(folder)).sort()).toEqual(["README", "s1~notes"]);
  });

  it("is touched regularly while held", async () => {
    const folder = await tempHome();
    const lease = await acquireLease(folder, "s1", { touchEveryMs: 5 });
    const [name = ""] = await readdir(folder);
    await utimes(join(folder, name), 1, 1);
    while ((await stat(join(folder, name))).mtimeMs < 2_000) await pause(5);
    expect(lease.isLost()).toBe(false);
    await lease.release();
  });

  it("detects that it was taken over", async () => {
    const folder = await tempHome();
    const lease = await acquireLease(folder, "s1", { touchEveryMs: 5 });
    const [name = ""] = await readdir(folder);
    await unlink(join(folder, name));
    while (!lease.isLost()) await pause(5);
    await lease.release();
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("two processes", () => {
  let bundles: string;
  let contender: string;
  beforeAll(async () => {
    bundles = await mkdtemp(join(tmpdir(), "tinman-bundles-"));
    const entry = fileURLToPath(new URL("children/lease-contender.ts", import.meta.url));
    contender = await bundleForChild(entry, bundles);
  });
  afterAll(() => rm(bundles, { recursive: true, force: true }));

  async function send(children: readonly Child[], command: string): Promise<string[]> {
    for (const child of children) child.say(command);
    return Promise.all(children.map((child) => child.nextLine()));
  }

  async function homeWithSession(): Promise<string> {
    const home = await tempHome();
    await (await createJsonlStore({ home }).create(opened("s1"))).release();
    return home;
  }

  it("never both win a race for a session", async () => {
    const home = await homeWithSession();
    const children = [startChild(contender, home), startChild(contender, home)];
    for (let round = 1; round <= (isFullRun ? 100 : 20); round++) {
      expect((await send(children, "acquire")).sort()).toEqual(["acquired", "session_in_use"]);
      await send(children, "release");
      expect(await locksIn(home)).toEqual([]);
    }
  }, 120_000);

  it("report each other's pid, and one takes over when the other is killed", async () => {
    const home = await homeWithSession();
    const store = createJsonlStore({ home });
    const child = startChild(contender, home);
    expect(await send([child], "acquire")).toEqual(["acquired"]);
    await expect(store.acquire("s1")).rejects.toMatchObject({
      code: "session_in_use",
      message: `Session s1 is in use by process ${child.pid}.`,
    });
    await expect(store.create(opened("s1", "/elsewhere"))).rejects.toMatchObject({ code: "session_exists" });
    expect((await store.read("s1")).events).toEqual([opened("s1")]);
    await child.kill();
    const log = await store.acquire("s1");
    await log.append([prompt("s1", 2)]);
    await log.release();
    expect((await store.read("s1")).events).toEqual([opened("s1"), prompt("s1", 2)]);
    expect(await locksIn(home)).toEqual([]);
  });

  it("can exit while holding a lease", async () => {
    const home = await homeWithSession();
    const child = startChild(contender, home);
    expect(await send([child], "acquire")).toEqual(["acquired"]);
    child.endInput();
    expect(await child.exitCode()).toBe(0);
  });
});
