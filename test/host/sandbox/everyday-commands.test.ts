import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProcesses } from "../../../src/host/processes/processes.ts";
import { createHostSandbox } from "../../../src/host/sandbox/sandbox.ts";
import { isFullRun } from "../../full-run.ts";
import { cases, createEverydayWorld } from "../../permissions/everyday-world.ts";
import { canContain, testRefusal } from "./contained.ts";

const world = createEverydayWorld();
const { root, home, cwd } = world;
const bin = join(root, "bin");
const pristine = join(root, "pristine");
const temp = join(root, "temp");
const sandbox = createHostSandbox();
const sessionId = `everyday-${process.pid}`;

/** Programs that would use the network, or are rarely installed. They read their login and write their cache. */
const stubs: Readonly<Record<string, readonly [login: string, cache: string]>> = {
  npm: [".npmrc", ".npm/_cacache"],
  npx: [".none", "project/node_modules/.cache"],
  pnpm: [".none", "project/node_modules/.pnpm"],
  yarn: [".none", "project/node_modules/.yarn"],
  bun: [".none", "project/node_modules/.bun"],
  pip: [".config/pip/pip.conf", ".cache/pip"],
  poetry: [".none", "project/.venv"],
  uv: [".none", "project/.venv"],
  cargo: [".none", "project/target"],
  go: [".none", "project/build"],
  mvn: [".none", "project/target"],
  gradle: [".none", ".gradle"],
  ...Object.fromEntries(
    ["dotnet", "bundle", "make", "cmake", "ruff", "mypy", "rustc", "curl", "aws", "gh", "kubectl", "terraform"].map(
      (name) => [name, [".none", "project/build"] as const],
    ),
  ),
};

/** Only these calls of npm are for its own cache; the others run the project's code. */
const stub = (name: string, [login, cache]: readonly [string, string]) => `#!/bin/sh
echo "${name} $*"
case "${name} $1" in "npm ci"|"npm install"|pip*|gradle*|[!np]*) cat "$HOME/${login}" 2>/dev/null; place="$HOME/${cache}";; *) place=node_modules/.cache;; esac
mkdir -p "$place" && echo "$*" > "$place/${name}" && echo "wrote its cache"
`;

beforeAll(() => {
  for (const folder of [bin, temp]) mkdirSync(folder);
  for (const [name, places] of Object.entries(stubs)) {
    writeFileSync(join(bin, name), stub(name, places));
    chmodSync(join(bin, name), 0o755);
  }
  mkdirSync(join(home, ".config/pip"), { recursive: true });
  for (const name of [".npmrc", ".config/pip/pip.conf"]) writeFileSync(join(home, name), "LOGIN\n");
  writeFileSync(join(home, ".gitconfig"), "[user]\n  name = Ada\n  email = ada@example.com\n");
  writeFileSync(join(cwd, "scripts/build.sh"), "#!/bin/sh\necho built > build/out; echo built\n", { mode: 0o755 });
  chmodSync(join(cwd, "scripts/build.sh"), 0o755);
  writeFileSync(join(cwd, "scripts/migrate.py"), 'print("migrated")\n');
  writeFileSync(join(cwd, "dist/index.js"), 'require("fs").writeFileSync("dist/log", ""); console.log("runs");\n');
  execFileSync("cp", ["-a", home, pristine]);
});

afterAll(async () => {
  await sandbox.endSession(sessionId);
  world.remove();
});

/** Names and content of all files, without git's and Python's records of times. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (
      /\/\.git\/(?:index|logs|objects|COMMIT_EDITMSG|ORIG_HEAD|FETCH_HEAD)$|\/\.git\/refs\/|\/__pycache__$/.test(path)
    )
      return [];
    // Caches are created for a contained command, whether it uses them or not.
    if (entry.isDirectory()) return [...(path.startsWith(cwd) ? [`${path}/`] : []), ...filesIn(path)];
    const text = entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
    return [`${path} ${createHash("sha256").update(text).digest("hex").slice(0, 12)}`];
  });
}

async function outcome(written: string, contained: boolean) {
  execFileSync("sh", ["-c", `rm -rf "$1" "$3"/* && cp -a "$2" "$1"`, "sh", home, pristine, temp]);
  const command = written.replaceAll("/tmp/", `${temp}/`);
  const here = { ...({ isRequired: false, network: "proven", writable: [] } as const), hasServers: false };
  const { walls, class: accessClass } = await world.decisionOn(command, {
    autonomy: "medium",
    sandbox: { ...here, temp: sandbox.tempOf(sessionId) },
  });
  const environment = { PATH: `${bin}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8", GIT_CONFIG_NOSYSTEM: "1" };
  const processes = createProcesses({ environment, sandbox: async () => sandbox });
  const result = await processes.run(
    {
      // Otherwise the end of the command stops a background job at any moment.
      ...{
        command: world.written(command).replace(/&$/, "& wait"),
        cwd,
        timeoutMs: 60_000,
        spoolPath: join(root, "spool"),
      },
      ...{ keepBytes: 64 * 1024, onProgress: () => undefined },
      ...(contained && walls !== undefined ? { contained: { sessionId, walls } } : {}),
    },
    new AbortController().signal,
  );
  const said = result.head.replace(/\b[0-9a-f]{7,40}\b/g, "ID").replace(/\d+\.\d+ ?m?s\b/g, "TIME");
  return {
    class: accessClass,
    hasWalls: walls !== undefined,
    end: result.end,
    said,
    files: [...filesIn(home), ...filesIn(temp)],
  };
}

if (await canContain()) {
  test("every everyday command of class medium gives the same result contained and bare", async () => {
    const sandboxed = {
      isRequired: false,
      temp: "/tmp/t",
      hasServers: false,
      network: "proven",
      writable: [],
    } as const;
    const medium: string[] = [];
    for (const { command } of cases) {
      const { class: accessClass, walls } = await world.decisionOn(command, { autonomy: "medium", sandbox: sandboxed });
      if (accessClass === "medium" && walls !== undefined) medium.push(command);
    }
    expect(medium.length).toBeGreaterThanOrEqual(70);
    const tried = isFullRun ? medium : medium.filter((_, at) => at % 6 === 0);
    for (const command of tried) {
      const bare = await outcome(command, false);
      expect([command, await outcome(command, true)]).toEqual([command, bare]);
    }
  }, 300_000);
} else {
  testRefusal();
}
