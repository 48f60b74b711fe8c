import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { sessionTemp } from "../../../src/host/sandbox/session-temp.ts";
import { probeSandbox } from "../../../src/host/sandbox/status.ts";
import { isFullRun } from "../../full-run.ts";
import { eventually, longNap, processesWith, saying } from "../support.ts";
import { canContain, createWorld, testRefusal, type World } from "./contained.ts";

const works = await canContain();
let world: World;

beforeAll(async () => {
  world = await createWorld("contained");
});
afterAll(() => world.end());

const inWorkspace = (path: string) => join(world.workspace, path);
const inHome = (path: string) => join(world.home, path);

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

function mountCount(): number {
  return readFileSync("/proc/self/mountinfo", "utf8").split("\n").length;
}

if (!works) {
  testRefusal();
} else {
  describe("a contained command", () => {
    test("gives the same result as a bare one", async () => {
      const commands = [
        "echo out; echo err >&2; echo three >/dev/stderr; cat; printf '%s' \"it's\" 'a\\nb' 🦊",
        'pwd; echo "$PWD"; cd ..; pwd; echo "$HOME"; id -u',
        "exit 3",
        "surely-no-such-program-here",
        "kill -KILL $$",
        "kill -SEGV $$",
        "bash -c 'exit 130'",
        "pgrep -cf surely-not-running",
        "seq 200000",
        "ls /proc/self/fd",
        "ulimit -n; umask; nproc; hostname",
      ];
      for (const command of commands) expect(await world.run(command)).toEqual(await world.run(command, null));
    });

    test("sees only its own processes, and an empty temp folder of its session", async () => {
      const command = 'ps -e -o comm= > ps; sort ps; rm ps; ls -A "$TMPDIR"; echo "$TMPDIR"; touch "$TMPDIR/kept"';
      const temp = world.sandbox.tempOf(world.sessionId);
      expect(await world.run(command)).toEqual(saying(`bash\nbwrap\nps\n${temp}\n`));
      expect(await world.run('ls "$TMPDIR" /run')).toEqual(saying(`/run:\n\n${temp}:\nkept\n`));
    });

    test("gets SIGTERM and a second to clean up, and keeps its output", async () => {
      const nap = longNap();
      const polite = await world.run(
        `trap 'echo tidy; exit' TERM; echo up; sleep ${nap} & wait`,
        {},
        { timeoutMs: 400 },
      );
      expect(polite).toEqual({ ...saying("up\ntidy\n"), end: { type: "timeout" } });
      const deaf = `trap '' TERM; setsid sleep ${nap} & env -i setsid sleep ${nap} & echo up; sleep ${nap}`;
      expect(await world.run(deaf, {}, { timeoutMs: 400 })).toEqual({ ...saying("up\n"), end: { type: "timeout" } });
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 300);
      expect((await world.run(`sleep ${nap}`, {}, { signal: abort.signal })).end).toEqual({ type: "aborted" });
      expect(processesWith(nap)).toEqual([]);
    });

    test("that cannot be contained does not run, and reports why", async () => {
      const marker = inWorkspace("ran");
      const gone = await world.run(`touch ${marker}`, { hidden: [world.folder], writable: [] });
      const end = {
        type: "unstartable",
        message: expect.stringMatching(/could not be contained.*: bwrap: Can't chdir/),
      };
      expect(gone).toEqual(saying("", end as never));
      expect(existsSync(marker)).toBe(false);
    });

    test("writes below writable folders only, and the longest path decides", async () => {
      await mkdir(inWorkspace("kept/open"), { recursive: true });
      await mkdir(inHome("closed/shown"), { recursive: true });
      await writeFile(inHome("closed/shown/text"), "shown\n");
      await writeFile(inHome("closed/other"), "closed\n");
      const walls = {
        writable: [world.workspace, inWorkspace("kept/open"), world.sandbox.tempOf(world.sessionId)],
        kept: [inWorkspace("kept")],
        hidden: [inHome("closed"), inHome("missing/deep")],
        shown: [inHome("closed/shown")],
      };
      const command = `for at in a kept/b kept/open/c "$HOME/d" "$HOME/closed/shown/e"; do (echo > "$at") 2>/dev/null && echo "$at"; done
        cat "$HOME/closed/shown/text"; ls "$HOME/closed"`;
      expect(await world.run(command, walls)).toEqual(saying("a\nkept/open/c\nshown\nshown\n"));
      expect(await world.run("touch a", { writable: [] })).toMatchObject({ end: { type: "exit", code: 1 } });
    });

    test("writes its caches, which are created, and the files of its redirections, but only in place", async () => {
      const [cache, output] = [inHome(".cache/tool"), inHome("output")];
      const command = `echo 1 > ${cache}/a; echo 2 > ${output}; (echo 3 > ${output}2; mv -T a ${output}) 2>/dev/null; cat ${cache}/a ${output}; ls ${world.home}/.cache`;
      expect(await world.run(command, { caches: [cache], outputs: [output] })).toEqual(saying("1\n2\ntool\n"));
      expect(existsSync(`${output}2`)).toBe(false);
    });

    test("protects the targets of links, and reports a replaced link", async () => {
      await mkdir(inWorkspace("target"), { recursive: true });
      await symlink("target", inWorkspace("way"));
      await symlink("later", inWorkspace("dangling"));
      const walls = { barred: [inWorkspace("way"), inWorkspace("dangling/deep")] };
      const tries =
        "(echo > target/a) 2>/dev/null; (echo > way/b) 2>/dev/null; mkdir -p later/deep/x 2>/dev/null; ls target";
      expect(await world.run(tries, walls)).toEqual(saying(""));
      const replaced = await world.run("rm way; mkdir way; echo evil > way/a", walls);
      const words = `[${inWorkspace("way")} appeared or changed while this command ran. Check it before you use it.]`;
      expect(replaced.head).toBe(`\n${words}\n`);
      await rm(inWorkspace("way"), { recursive: true });
    });

    test("reports a forbidden path that another program created", async () => {
      const kept = inWorkspace(".planted");
      const go = inWorkspace("go");
      const wait = `echo up; until [ -e ${go} ]; do sleep 0.02; done`;
      let isUp = false;
      const onProgress = () => {
        isUp = true;
      };
      const running = world.run(wait, { barred: [kept] }, { onProgress });
      expect(await eventually(() => isUp)).toBe(true);
      await rm(kept, { recursive: true });
      await writeFile(kept, "evil");
      await writeFile(go, "");
      expect((await running).head).toContain(`[${kept} appeared or changed`);
      expect(readFileSync(kept, "utf8")).toBe("evil");
      await rm(kept);
    });

    test("keeps missing paths missing while another command runs, and leaves none behind", async () => {
      const barred = [".one", ".two/three"].map(inWorkspace);
      const results = await Promise.all([
        world.run("sleep 0.3; ls -A .one .two; mkdir .one/x", { barred }),
        world.run("mkdir .one/x", { barred }),
      ]);
      expect(results.map(({ end }) => end)).toEqual([1, 1].map((code) => ({ type: "exit", code })));
      expect([".one", ".two"].map((name) => existsSync(inWorkspace(name)))).toEqual([false, false]);
    });

    test("has the host's network if asked, and the ssh agent with the user's keys", async () => {
      const server = createServer((socket) => socket.end("hello\n"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" ? address?.port : 0;
      const reach = `cat < /dev/tcp/127.0.0.1/${port}`;
      expect(await world.run(reach, { network: "host" })).toEqual(saying("hello\n"));
      expect((await world.run(reach)).end).toEqual({ type: "exit", code: 1 });
      await new Promise((resolve) => server.close(resolve));

      await mkdir(inHome(".ssh"), { recursive: true });
      const agent = createServer((socket) => socket.end("agent\n"));
      const path = join(world.folder, "agent.sock");
      await new Promise<void>((resolve) => agent.listen(path, resolve));
      const variables = { SSH_AUTH_SOCK: path, NODE: process.execPath };
      const ask = `"$NODE" -e 'require("net").connect(process.env.SSH_AUTH_SOCK).on("error", () => console.log("closed")).pipe(process.stdout)'`;
      const hidden = [inHome(".ssh")];
      expect(await world.run(ask, { hidden, shown: hidden }, { variables })).toEqual(saying("agent\n"));
      expect(await world.run(ask, { hidden }, { variables })).toEqual(saying("closed\n"));
      await new Promise((resolve) => agent.close(resolve));
    });

    test("leaves nothing, however often it runs", async () => {
      const barred = [".missing", ".deep/missing"].map(inWorkspace);
      await world.run("true", { barred });
      const before = { descriptors: openDescriptors(), mounts: mountCount(), names: readdirSync(world.workspace) };
      const nap = longNap();
      for (let i = 0; i < (isFullRun ? 200 : 10); i += 1) {
        await world.run(`env -i setsid sleep ${nap} & true`, { barred });
      }
      expect(processesWith(nap)).toEqual([]);
      const after = { descriptors: openDescriptors(), mounts: mountCount(), names: readdirSync(world.workspace) };
      expect(after).toEqual(before);
    }, 180_000);
  });

  test("a session's temp folder is private, and another user's in its place is refused", async () => {
    const own = await createWorld("temp");
    const temp = own.sandbox.tempOf(own.sessionId);
    await own.run('mkdir -p "$TMPDIR/a/b"; chmod 0 "$TMPDIR/a"');
    expect(existsSync(temp)).toBe(true);
    await own.sandbox.endSession(own.sessionId);
    expect(existsSync(temp)).toBe(false);
    await symlink(own.home, temp);
    const refused = await own.run("echo ran");
    expect(refused).toEqual(
      saying("", {
        type: "unstartable",
        message: expect.stringContaining(`${temp} is not your folder`),
      } as never),
    );
    await rm(temp);
    await own.end();
  });
}

test("a temp folder that is missing is not used", () => {
  vi.stubEnv("TMPDIR", "/missing");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(dirname(dirname(sessionTemp("a")))).toBe(realpathSync("/tmp"));
});

test.runIf(works)(
  "a version that cannot prevent user namespaces works, and the status says what it lacks",
  async () => {
    const old = join(world.folder, "bwrap");
    const refuse = `case " $* " in *" --disable-userns "*) echo "bwrap: Unknown option --disable-userns" >&2; exit 1;; esac`;
    await writeFile(old, `#!/bin/sh\n${refuse}\nexec /usr/bin/bwrap "$@"\n`, { mode: 0o555 });
    expect(await probeSandbox(old, undefined)).toEqual({
      ...{ works: true, mechanism: "bubblewrap", sharesNetwork: false },
      weakness: expect.stringContaining("is older than 0.8"),
    });
  },
);

test("without bubblewrap, a contained command does not run and the status says what to install", async () => {
  expect(await probeSandbox(undefined, undefined)).toEqual({
    works: false,
    why: "bubblewrap is not installed.",
    advice: "Install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap).",
  });
  expect(await probeSandbox("/bin/false", undefined)).toEqual({
    works: false,
    why: "bubblewrap does not work here: exit 1.",
    advice: expect.any(String),
  });
});
