import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bundleForChild } from "../../fakes/bundle-for-child.ts";
import { isFullRun } from "../../full-run.ts";
import { eventually, longNap, processesWith, saying } from "../support.ts";
import { canContain, createWorld, testRefusal } from "./contained.ts";

const nobody = 65534;
let folder = "";
let program = "";

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "tinman-sandbox-child-")));
  await chmod(folder, 0o755);
  program = await bundleForChild(join(import.meta.dirname, "sandbox-child.ts"), folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<unknown>;
  readonly workspace: string;
  readonly temp: string;
}

async function startChild(background: string, foreground: string, user = ""): Promise<Child> {
  const temp = await mkdtemp(join(folder, "temp-"));
  const workspace = join(temp, "workspace");
  await mkdir(workspace);
  await writeFile(join(workspace, "hidden"), "SECRET\n");
  if (user !== "") for (const path of [temp, workspace]) await chown(path, Number(user), Number(user));
  const args = [program, background, foreground, workspace, join(workspace, "kept", "deep"), user];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TMPDIR: temp, HOME: workspace },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return { process: child, lines, ended: once(child, "close"), workspace, temp };
}

/** Its environment does not identify it, and it also tries to hide the first process of its namespace. */
const hiding = (nap: string) => `
  python3 - <<'END' 2>/dev/null
with open("/proc/1/stat") as stat: fields = stat.read().rpartition(")")[2].split()
start, end = int(fields[47]), int(fields[48])
with open("/proc/1/mem", "r+b", 0) as memory:
  memory.seek(start)
  memory.write(b"X=" + b"x" * (end - start - 3))
END
  env -i setsid sleep ${nap} & sleep ${nap} & echo up; wait`;

if (await canContain()) {
  describe("when our process ends in the middle of contained commands", () => {
    const signals = ["SIGKILL", "SIGTERM"] as const;
    test.each(signals)("by %s, nothing of them is left", async (signal) => {
      const nap = longNap();
      const child = await startChild(hiding(nap), hiding(nap));
      expect(await eventually(() => child.lines.length > 1 && processesWith(nap).length >= 4)).toBe(true);
      expect(await readdir(child.workspace)).toContain("kept");
      child.process.kill(signal);
      await child.ended;
      expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
      expect(await eventually(() => processesWith(child.lines[0] ?? "").length === 0)).toBe(true);
      for (let tries = 0; tries < 200 && (await readdir(child.workspace)).includes("kept"); tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(await readdir(child.workspace)).not.toContain("kept");
    });

    test("at any moment of a start, nothing is left", async () => {
      const nap = longNap();
      for (const delay of isFullRun ? [0, 5, 10, 15, 20, 25, 30, 40, 50, 70] : [0, 20, 50]) {
        const child = await startChild("", `env -i setsid sleep ${nap} & sleep ${nap}`);
        await once(child.process.stdout ?? child.process, "data");
        await new Promise((resolve) => setTimeout(resolve, delay));
        child.process.kill("SIGKILL");
        await child.ended;
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
    });

    test("by a normal exit, a background command does not delay it, and ends with it", async () => {
      const nap = longNap();
      const child = await startChild(`sleep ${nap}`, "echo done");
      expect(await child.ended).toEqual([0, null]);
      expect(JSON.parse(child.lines.at(-1) ?? "")).toEqual(saying("done\n"));
      expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
    });
  });

  test("another process's command ends, and its missing places still cannot be created", async () => {
    const world = await createWorld("neighbour");
    onTestFinished(world.end);
    const nap = longNap();
    const child = await startChild("", `sleep ${nap}`);
    expect(await eventually(() => processesWith(nap).length > 0)).toBe(true);
    const { workspace } = child;
    const tries = `cd ${workspace}; echo up; until [ -e go ]; do sleep 0.02; done; echo evil > kept/deep/x; mkdir kept/deep/y; ls -A kept/deep`;
    const walls = { writable: [workspace], barred: [join(workspace, "kept", "deep")] };
    let isUp = false;
    const running = world.run(`{ ${tries}; } 2>/dev/null`, walls, {
      onProgress: () => {
        isUp = true;
      },
    });
    expect(await eventually(() => isUp)).toBe(true);
    child.process.kill("SIGKILL");
    await child.ended;
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
    // Its watchdog tidies up after it.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await writeFile(join(workspace, "go"), "");
    expect(await running).toEqual(saying("up\n"));
    expect(await readdir(join(workspace, "kept"))).toEqual([]);
  });

  test("an ordinary user's commands are contained too", async () => {
    const nap = longNap();
    const command = `id -u; (echo x > kept/deep/x) 2>/dev/null; (echo x > "$HOME/../y") 2>/dev/null; touch z "$TMPDIR/t"; ls;
      ps -e -o comm= > "$TMPDIR/ps"; sort "$TMPDIR/ps"; cat /proc/sys/kernel/ostype;
      unshare -Urm sh -c 'umount "$HOME/hidden"; cat "$HOME/hidden"' 2>/dev/null;
      until exec 3<>/dev/tcp/127.0.0.1/8099; do sleep 0.05; done 2>/dev/null; head -1 <&3`;
    const server = `exec "${process.execPath}" -e 'require("net").createServer((s) => s.end("served\\n")).listen(8099)' ${nap}`;
    const user = String(process.getuid?.() === 0 ? nobody : process.getuid?.());
    const child = await startChild(server, command, user);
    await child.ended;
    const said = `${user}\nbackground.txt\nhidden\nkept\nz\nbash\nbwrap\nps\nLinux\nserved\n`;
    expect(JSON.parse(child.lines.at(-1) ?? "")).toEqual(saying(said));
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
  });

  test("background commands are reachable and visible only in their session, and end with it", async () => {
    const world = await createWorld("background");
    const other = await createWorld("other-session");
    onTestFinished(async () => {
      await world.end();
      await other.end();
    });
    const nap = longNap();
    const port = 8098;
    expect(world.sandbox.hasServers(world.sessionId)).toBe(false);
    const serve = `require("net").createServer((s) => s.end("served\\n")).listen(${port}, () => console.log("up"))`;
    const server = await world.startBackground(`"${process.execPath}" -e '${serve}' ${nap} & wait`);
    const isUp = async () => (await readFile(server.outputPath, "utf8")).includes("up");
    for (let tries = 0; tries < 500 && !(await isUp()); tries += 1) await new Promise((go) => setTimeout(go, 20));
    expect(world.sandbox.hasServers(world.sessionId)).toBe(true);

    const reach = `{ head -1 < /dev/tcp/127.0.0.1/${port}; } 2>/dev/null`;
    const see = `pgrep -f ${nap.replace(".", "[.]")} >/dev/null && echo seen`;
    const both = `${reach}; ${see}; true`;
    const session = { processes: "session" } as const;
    expect((await world.run(both, session)).head).toBe("served\nseen\n");
    expect((await world.run(both)).head).toBe("served\n");
    expect((await world.run(both, { network: "host" })).head).toBe("");
    expect((await other.run(both, session)).head).toBe("");

    // On SIGTERM to its group, a command can clean up.
    const polite = await world.startBackground("trap 'echo tidy; exit' TERM; echo up; while :; do sleep 0.05; done");
    await world.run(
      `kill -- -${polite.pid}; while kill -0 -- -${polite.pid} 2>/dev/null; do sleep 0.05; done`,
      session,
    );
    expect(await readFile(polite.outputPath, "utf8")).toContain("tidy\n");

    // Killing the holder of the session's namespaces ends its processes. The next command gets new namespaces.
    await world.run("kill -KILL 2", session);
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
    expect((await world.run(both, session)).head).toBe("");
    await world.startBackground(`sleep ${nap}`);
    expect((await world.run(both, session)).head).toBe("seen\n");
    await world.sandbox.endSession(world.sessionId);
    expect(processesWith(nap)).toEqual([]);
    expect(world.sandbox.hasServers(world.sessionId)).toBe(false);
    await expect(readdir(world.sandbox.tempOf(world.sessionId))).rejects.toThrow("ENOENT");
  });
} else {
  testRefusal();
}
