import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { longNap, processesWith } from "../support.ts";
import { canContain, createWorld, testRefusal, type World } from "./contained.ts";

const isRoot = process.getuid?.() === 0;

/** Each exits with 0 if the attack worked. */
const attacks = {
  "writes into the home": `echo x > "$HOME/x"`,
  "reads a key": `grep -r SECRET "$HOME/.ssh"`,
  "reads a hidden file": `grep SECRET "$HOME/.npmrc"`,
  "reads another session's log": `grep SECRET "$HOME/.tinman/sessions/other.jsonl"`,
  "reads a key through another process's root": `cat /proc/[0-9]*/root"$HOME"/.ssh/id_rsa | grep SECRET`,
  "plants a hook": `echo evil > .git/hooks/pre-commit`,
  "plants a hook through a link": `ln -s .git/hooks way && echo evil > way/pre-push`,
  "changes git's configuration": `echo evil >> .git/config`,
  "changes git's configuration under another name": `ln .git/config other-name && echo evil >> other-name`,
  "replaces git's configuration with another file": `echo evil > c && mv -f c .git/config`,
  "removes git's configuration": `rm -f .git/config`,
  "moves the repository away and makes one with a hook": `mv .git gone && mkdir -p .git/hooks && echo evil > .git/hooks/x`,
  "makes Tinman's folder": `mkdir -p .tinman && echo evil > .tinman/config.yaml`,
  "makes a settings file": `echo evil > .mcp.json`,
  "makes a link in place of a settings file": `ln -sfT "$PWD/evil" .mcp.json`,
  "removes what keeps a settings file away": `rmdir .claude; echo evil > .claude`,
  "moves a new file over a settings file": `echo evil > d && mv -fT d .npmrc`,
  "makes a settings file in a folder that is missing": `mkdir -p .vscode && echo evil > .vscode/tasks.json`,
  "moves that folder": `mkdir -p .vscode/x && mv -T .vscode .elsewhere && mkdir -p .vscode && echo evil > .vscode/tasks.json`,
  "reaches a server on the host's loopback": `exec 3<>"/dev/tcp/127.0.0.1/$TCP_PORT"`,
  "reaches an address outside": `exec 3<>"/dev/tcp/$OUTSIDE/$TCP_PORT"`,
  "reaches a Unix socket beside the workspace": `"$NODE" -e "$CONNECT" "$FOLDER/daemon.sock"`,
  "reaches a Unix socket in the workspace": `"$NODE" -e "$CONNECT" host.sock`,
  "reaches a Unix socket with a relative name": `"$NODE" -e "$CONNECT" "$FOLDER/relative.sock"`,
  "reaches an abstract Unix socket": `"$NODE" -e "$CONNECT" "@$FOLDER"`,
  "sees a process outside": `ls -d "/proc/$VICTIM"`,
  "reads the variables of a process outside": `grep SECRET "/proc/$VICTIM/environ"`,
  "shares memory with the host": `echo x > "/dev/shm/$NAP" && rm "/dev/shm/$NAP" && ls /dev/shm/host-$NAP`,
  "uncovers a key in another namespace": `
    unshare -Um sh -c 'umount -l "$HOME/.ssh"; umount "$HOME/.ssh"; mount --bind / /mnt; cat "$HOME/.ssh/id_rsa" "/mnt$HOME/.ssh/id_rsa" | grep SECRET'`,
  "makes the disk writable in another namespace": `
    unshare -Um sh -c 'mount -o remount,rw,bind /; mount --bind "$HOME" /mnt; echo x > /mnt/y || echo x > "$HOME/y"'`,
  "makes the disk writable": `mount -o remount,rw /; mount -o remount,rw,bind /; echo x > "$HOME/z"`,
  "has all rights in a namespace of its own": `unshare -U true`,
  "opens the kernel's keyring of the session": `perl -e 'exit(syscall(${process.arch === "arm64" ? 219 : 250}, 0, -3, 0) >= 0 ? 0 : 1)'`,
  "leaves a program that runs as its owner": `cp /bin/sh own && chmod u+s own && test -u own`,
  "makes a program that runs as its owner": `perl -e 'use Fcntl; umask 0; sysopen(F, "own2", O_CREAT | O_WRONLY, 04755) or exit 1' && test -u own2`,
  "kills a process outside": `kill -KILL "$VICTIM"`,
};

/** Root owns the kernel's settings, and needs no capability to write them. They keep their value. */
const attacksOfRoot = {
  "writes a kernel setting": `cat /proc/sys/kernel/core_pattern > p && cat p > /proc/sys/kernel/core_pattern`,
  "writes a kernel setting through a new /proc": `
    cat /proc/sys/kernel/core_pattern > p
    unshare -Upfm sh -c 'mount -t proc proc /proc; mount -t proc proc /mnt; cat p > /mnt/sys/kernel/core_pattern || cat p > /proc/sys/kernel/core_pattern' ||
      cat p > /proc/sys/kernel/core_pattern`,
  "makes a device": `mknod device b 254 0`,
  "changes the file of a program outside, such as the one that contains it": `
    for id in 1 "$PPID"; do chmod "$(stat -Lc %a "/proc/$id/exe")" "/proc/$id/exe" && exit 0; done; exit 1`,
};

const connect = `
  const path = process.argv[1].replace(/^@/, "\\0");
  require("net").connect(path).on("connect", () => process.exit(0)).on("error", () => process.exit(1));`;

function script(cases: Readonly<Record<string, string>>): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const each = Object.entries(cases).map(([name, attack]) => `attempt ${quoted(name)} ${quoted(attack)}`);
  const attempt = `attempt() { if bash -c "$2" >/dev/null 2>&1; then echo "$1"; fi; }`;
  return [attempt, ...each].join("\n");
}

async function listen(server: Server, ...where: [number, string] | [string]): Promise<void> {
  server.on("connection", (socket) => socket.destroy());
  server.unref();
  await (where.length === 1 ? once(server.listen(where[0]), "listening") : once(server.listen(...where), "listening"));
  onTestFinished(() => void server.close());
}

/** An address of this machine that is not its loopback. */
function outsideAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.2";
}

async function furnish(world: World): Promise<{ victim: ChildProcess; variables: Record<string, string> }> {
  const { folder, home, workspace } = world;
  for (const path of [".ssh", ".tinman/sessions"]) await mkdir(join(home, path), { recursive: true });
  for (const path of [".ssh/id_rsa", ".npmrc", ".tinman/sessions/other.jsonl"])
    await writeFile(join(home, path), "SECRET");
  await mkdir(join(workspace, ".git", "hooks"), { recursive: true });
  await writeFile(join(workspace, ".git", "config"), "[core]\n");

  const tcp = createServer();
  await listen(tcp, 0, "0.0.0.0");
  const address = tcp.address();
  await listen(createServer(), join(folder, "daemon.sock"));
  await listen(createServer(), join(workspace, "host.sock"));
  const relative = `require("net").createServer((s) => s.destroy()).listen("relative.sock", () => console.log("up"))`;
  const server = spawn(process.execPath, ["-e", relative], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  await once(server.stdout, "data");
  await listen(createServer(), `\0${folder}`);
  const nap = longNap();
  await writeFile(`/dev/shm/host-${nap}`, "");
  onTestFinished(() => rm(`/dev/shm/host-${nap}`, { force: true }));
  const victim = spawn("sleep", [nap], { env: { PATH: process.env.PATH, TOKEN: "SECRET" }, stdio: "ignore" });
  onTestFinished(() => void victim.kill("SIGKILL"));
  const variables = {
    ...{ FOLDER: folder, NODE: process.execPath, CONNECT: connect, NAP: nap, OUTSIDE: outsideAddress() },
    TCP_PORT: String(typeof address === "object" ? address?.port : ""),
    VICTIM: String(victim.pid),
  };
  return { victim, variables };
}

const missingPlaces = [".tinman", ".mcp.json", ".claude", ".npmrc", ".vscode/tasks.json"];

async function harmDone(contained: boolean): Promise<readonly string[]> {
  const world = await createWorld("hostile");
  onTestFinished(world.end);
  const { victim, variables } = await furnish(world);
  const before = await readFile(join(world.workspace, ".git", "config"), "utf8");
  const inWorkspace = (path: string) => join(world.workspace, path);
  const inHome = (path: string) => join(world.home, path);
  const walls = {
    kept: [inWorkspace(".git/hooks")],
    barred: [".git/config", ...missingPlaces].map(inWorkspace),
    hidden: [".ssh", ".npmrc", ".tinman", ".aws", ".config/gh"].map(inHome),
  };
  const cases = { ...attacks, ...(isRoot ? attacksOfRoot : {}) };
  const result = await world.run(script(cases), contained ? walls : null, { variables, timeoutMs: 60_000 });
  expect(result.end).toMatchObject({ type: "exit" });
  if (contained) {
    // Also check from outside what the attacks left.
    expect(await readFile(inWorkspace(".git/config"), "utf8")).toBe(before);
    const look = `ls -d ${missingPlaces.join(" ")} 2>/dev/null; ls -A .git .git/hooks "$HOME"`;
    const left = `.git:\nconfig\nhooks\n\n.git/hooks:\n\n${world.home}:\n.npmrc\n.ssh\n.tinman\n`;
    expect((await world.run(look, null)).head).toBe(left);
    expect(victim.exitCode ?? victim.signalCode).toBe(null);
  }
  return result.head.split("\n").filter(Boolean);
}

if (await canContain()) {
  test("every attack works on a bare command, and none on a contained one", async () => {
    const all = Object.keys({ ...attacks, ...(isRoot ? attacksOfRoot : {}) });
    expect(await harmDone(false)).toEqual(all);
    expect(await harmDone(true)).toEqual([]);
  });

  test("no process outlives a contained command, even one that hides from us", async () => {
    const world = await createWorld("survivors");
    onTestFinished(world.end);
    const nap = longNap();
    const daemons = `env -i setsid sleep ${nap} & (setsid sleep ${nap} &) ; env -i setsid sh -c 'sleep ${nap} & sleep ${nap}' & nohup sleep ${nap} & sleep 0.1; echo done`;
    const bare = await world.run(daemons, null);
    expect(bare.head).toContain("done");
    // Control: without a sandbox, processes with an empty environment and their own group survive.
    expect(processesWith(nap).length).toBeGreaterThan(0);
    await world.run(`pkill -KILL -f "sleep ${nap}"; true`, null);
    const contained = await world.run(daemons);
    expect(contained).toMatchObject({ end: { type: "exit", code: 0 }, head: expect.stringContaining("done") });
    expect(processesWith(nap)).toEqual([]);
  });
} else {
  testRefusal();
}
