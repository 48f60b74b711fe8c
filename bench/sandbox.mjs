import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadBundled } from "./bundle.mjs";
import { inFreshPlace, judge, options, printTable, show, spread } from "./measure.mjs";

/**
 * The cost of containing a command: `true` through `Processes.run`, contained and bare in turn, behind the walls of an
 * ordinary workspace. For comparison, also the launchers alone: bubblewrap and Landlock. Then what 200 contained commands
 * leave, and what the sandbox costs a run without commands.
 */
const most = 3;
const mostStart = 1.1;
const inARow = 200;
const longTimeout = 20_000;

/** Places that are hidden from every command; most of them are missing on every machine. */
const hiddenNames = `.ssh .aws .gnupg .kube .docker .netrc .npmrc .pypirc .git-credentials .bash_history .python_history
  .config/gh .config/gcloud .config/op .azure .password-store .vault-token .cargo/credentials.toml .m2/settings.xml`
  .split(/\s+/)
  .flatMap((name) => [name, ...Array.from({ length: 19 }, (_, at) => `${name}-${at}`)]);

const { check, pairs, program } = options();
const rounds = pairs ?? 60;

/** @param {string} folder */
async function loadHost(folder) {
  const { processes, sandbox } = await loadBundled(folder, {
    processes: "host/processes/processes.ts",
    sandbox: "host/sandbox/sandbox.ts",
  });
  return {
    /** @type {typeof import("../src/host/processes/processes.ts").createProcesses} */
    createProcesses: processes.createProcesses,
    /** @type {typeof import("../src/host/sandbox/sandbox.ts").createHostSandbox} */
    createHostSandbox: sandbox.createHostSandbox,
  };
}

/**
 * @param {readonly string[]} command
 * @param {string} input
 */
function timed([program = "", ...args], input = "") {
  const startedAt = performance.now();
  const { status } = spawnSync(program, args, { stdio: ["pipe", "ignore", "ignore"], input });
  return status === 0 ? performance.now() - startedAt : Number.NaN;
}

/**
 * @param {readonly string[]} command
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
function timedRun([name = "", ...args], cwd, env) {
  const startedAt = performance.now();
  const { status } = spawnSync(name, args, { cwd, env, stdio: "ignore" });
  if (status !== 0) throw new Error("A run failed, so nothing was measured.");
  return performance.now() - startedAt;
}

/**
 * The Landlock launcher, or why it is missing.
 * @param {string} folder
 * @returns {{ readonly program: string } | { readonly why: string }}
 */
function buildLandlock(folder) {
  const program = join(folder, "landlock");
  const source = fileURLToPath(new URL("landlock.c", import.meta.url));
  const built = spawnSync("cc", ["-O2", "-o", program, source], { encoding: "utf8" });
  if (built.status !== 0) return { why: "there is no C compiler, or it lacks the kernel's headers" };
  const tried = spawnSync(program, [folder, "/bin/true"], { encoding: "utf8" });
  return tried.status === 0 ? { program } : { why: tried.stderr.trim() || "the kernel has no Landlock" };
}

await inFreshPlace(async ({ folder, environment }) => {
  const workspace = join(folder, "workspace");
  for (const path of [".ssh", ".aws", "workspace/.git/hooks"]) mkdirSync(join(folder, path), { recursive: true });
  for (const path of [".npmrc", ".netrc", ".bash_history", "workspace/.git/config"])
    writeFileSync(join(folder, path), "");
  const { createProcesses, createHostSandbox } = await loadHost(folder);
  const sandbox = createHostSandbox();
  const status = await sandbox.status();
  if (!status.works) {
    process.stdout.write(`Not measured: ${status.why} ${status.advice}\n`);
    if (check) process.exitCode = 1;
    return;
  }
  const sessionId = `bench-${process.pid}`;
  const processes = createProcesses({ environment, sandbox: async () => sandbox });
  const walls = /** @type {const} */ ({
    writable: [workspace, sandbox.tempOf(sessionId)],
    caches: [],
    repositories: [],
    newFolders: [],
    unwanted: [],
    runsHooks: true,
    outputs: [],
    kept: [],
    barred: [".git/hooks", ".git/config", ".tinman", ".mcp.json"].map((name) => join(workspace, name)),
    hidden: hiddenNames.map((name) => join(folder, name)),
    shown: [],
    network: "session",
    processes: "own",
  });
  /**
   * @param {string} command
   * @param {boolean} contained
   */
  const run = async (command, contained) => {
    const startedAt = performance.now();
    const result = await processes.run(
      {
        command,
        cwd: workspace,
        timeoutMs: longTimeout,
        spoolPath: join(folder, "spool"),
        keepBytes: 1000,
        onProgress: () => undefined,
        ...(contained ? { contained: { sessionId, walls } } : {}),
      },
      new AbortController().signal,
    );
    return { ms: performance.now() - startedAt, works: result.end.type === "exit" && result.end.code === 0 };
  };

  const bwrap = [
    "/usr/bin/bwrap",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-net",
    "--ro-bind",
    "/",
  ];
  const bubblewrap = [...bwrap, "/", "--dev", "/dev", "--proc", "/proc", "--bind", workspace, workspace, "/bin/true"];
  const landlock = buildLandlock(folder);
  const launchers = {
    "no launcher": ["/bin/true"],
    Landlock: "program" in landlock ? [landlock.program, workspace, "/bin/true"] : undefined,
    bubblewrap: existsSync(bwrap[0] ?? "") ? bubblewrap : undefined,
  };
  /** @type {Record<string, number[]>} */
  const values = { bare: [], contained: [], "no launcher": [], Landlock: [], bubblewrap: [] };
  for (let round = 0; round < rounds + 3; round++) {
    const bare = await run("true", false);
    const contained = await run("true", true);
    if (!bare.works || !contained.works) throw new Error("A command failed, so nothing was measured.");
    const alone = Object.entries(launchers).map(([name, command]) => [name, command && timed(command)]);
    // The first rounds are for the compiler and the disk.
    if (round < 3) continue;
    values.bare?.push(bare.ms);
    values.contained?.push(contained.ms);
    for (const [name, ms] of alone) if (typeof ms === "number") values[String(name)]?.push(ms);
  }
  const names = { bare: "bare `true`, through Processes.run", contained: "contained `true`, through Processes.run" };
  printTable([
    ["what", "milliseconds, median (p10-p90)"],
    ...Object.entries(values).map(([name, list]) => [
      names[/** @type {keyof typeof names} */ (name)] ?? `\`true\`, ${name}`,
      list.length === 0 ? "not measured" : show(spread(list), 1),
    ]),
  ]);
  if ("why" in landlock) process.stdout.write(`Landlock was not measured: ${landlock.why}.\n`);

  // Which harmful commands each launcher holds back.
  writeFileSync(join(folder, ".ssh", "id_rsa"), "secret");
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const harms = {
    "writes outside": `echo x > ${join(folder, "x")}`,
    "plants a hook": `echo x > ${join(workspace, ".git/hooks/x")}`,
    "reads a hidden file": `grep secret ${join(folder, ".ssh/id_rsa")}`,
    "sees other processes": `kill -0 ${process.pid}`,
    "reaches the host's loopback": `exec 3<>/dev/tcp/127.0.0.1/${port}`,
  };
  const rows = [];
  for (const [what, command] of Object.entries(harms)) {
    const bare = await run(command, false);
    const contained = await run(command, true);
    const locked =
      "program" in landlock
        ? Number.isNaN(timed([landlock.program, workspace, "/bin/bash", "-c", command]))
        : undefined;
    /** @param {boolean | undefined} isHeld */
    const word = (isHeld) => (isHeld === undefined ? "not measured" : isHeld ? "no" : "yes");
    rows.push([what, word(!bare.works), word(locked), word(!contained.works)]);
  }
  server.close();
  printTable([["a command that", "bare", "Landlock", "bubblewrap"], ...rows]);

  const nap = `600.${process.pid}`;
  /** @param {string} id */
  const commandOf = (id) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  const left = () => ({
    descriptors: readdirSync("/proc/self/fd").length,
    mounts: readFileSync("/proc/self/mountinfo", "utf8").split("\n").length,
    processes: readdirSync("/proc").filter((id) => /^\d+$/.test(id) && commandOf(id).includes(nap)).length,
    files: readdirSync(workspace).length + readdirSync(sandbox.tempOf(sessionId)).length,
  });
  const before = left();
  for (let at = 0; at < inARow; at++) await run(`env -i setsid sleep ${nap} & true`, true);
  const after = left();
  const leaks = Object.entries(after).map(([name, count]) =>
    Math.max(0, count - (Object.entries(before).find(([it]) => it === name)?.[1] ?? 0)),
  );
  await sandbox.endSession(sessionId);

  /** @param {"auto" | "off"} mode */
  const startUp = (mode) =>
    timedRun([process.execPath, program, "exec", "--sandbox", mode, "Just reply OK."], workspace, environment);
  const starts = [];
  for (let round = 0; round < Math.max(10, Math.ceil(rounds / 3)); round++) {
    const off = startUp("off");
    starts.push(startUp("auto") / off);
  }
  const startRatio = spread(starts.slice(2)).value;

  const ratio = spread(values.contained?.map((ms, at) => ms / (values.bare?.[at] ?? Number.NaN)) ?? []).value;
  judge(
    [
      { what: "a contained `true` to a bare one", text: `${ratio.toFixed(2)} times`, value: ratio, target: most },
      {
        what: `left by ${inARow} commands: descriptors, mounts, processes, files`,
        text: leaks.join(", "),
        value: leaks.reduce((sum, count) => sum + count, 0),
        target: 0,
      },
      {
        what: "a run without commands, with the sandbox to without",
        text: `${startRatio.toFixed(2)} times`,
        value: startRatio,
        target: mostStart,
      },
    ],
    check,
  );
});
