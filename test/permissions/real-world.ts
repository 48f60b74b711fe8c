import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { DecisionContext } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createProcesses } from "../../src/host/processes/processes.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { context } from "./class-of.ts";

/** Content of every file and variable that must not be printed. */
const canary = "CANARY-7f3a";

const projectFiles = {
  "README.md": "readme\n",
  "src/a.ts": "a\n",
  "src/b.ts": "b\n",
  "package.json": '{ "scripts": { "test": "true" } }\n',
  "build/out.js": "out\n",
  "notes.txt": "notes\n",
  "x$(touch MARK)y.txt": "odd\n",
} as const;
const homeFiles = {
  ".ssh/id_rsa": canary,
  ".bashrc": `# ${canary}\n`,
  ".bash_history": canary,
  ".gitconfig": "[user]\n\tname = n\n\temail = n@example.com\n",
  ".local/bin/tool": "#!/bin/sh\n",
  ".config/gh/hosts.yml": canary,
  "other/file.txt": "other\n",
} as const;
/** Programs that the repository tries to get run. */
const planted = ["1/ls", "1/cat", "1/git", "evil", "bin/cargo", "hooks/post-checkout"] as const;

/**
 * Replaces builds and downloads. Like the real ones, it starts programs that some variables name, and writes a file
 * named by the address, even through an existing link.
 */
const stub = `#!/bin/sh
for name in RUSTC RUSTDOC GOCACHEPROG PKG_CONFIG CC MY_TOOL; do
  eval "program=\\\${$name:-}"
  [ -n "$program" ] && "$program"
done
case "\${0##*/}" in wget)
  folder=. target=
  while [ $# -gt 0 ]; do
    case "$1" in -P) folder=$2; shift 2 ;; -O) target=$2; shift 2 ;; -*) shift ;; *) address=$1; shift ;; esac
  done
  echo fetched > "\${target:-$folder/\${address##*/}}" ;;
esac
`;
const stubs = ["cargo", "go", "make", "npm", "wget"];

export interface Outcome {
  readonly class: string;
  /** Effects beyond its class. */
  readonly faults: readonly string[];
  /** Whether it ran and changed something. */
  readonly changed: boolean;
}

export interface RealWorld {
  readonly home: string;
  readonly path: string;
  /** Judges a command, unless its class is given, and runs it if it would run unasked at `medium`. */
  try(command: string, given?: string): Promise<Outcome>;
  remove(): void;
}

/** A home with a repository, and programs outside it, for commands that really run. */
export function realWorld(): RealWorld {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-real-")));
  const [home, programs, spool] = [join(root, "home"), join(root, "programs"), join(root, "spool")];
  const [cwd, template] = [join(home, "project"), join(root, "template")];
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    chmodSync(path, mode);
  };
  for (const name of stubs) put(join(programs, name), stub, 0o755);
  const env = {
    PATH: `${programs}:/usr/bin:/bin`,
    HOME: home,
    LANG: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    DATABASE_URL: `postgres://u:${canary}@db/x`,
    API_TOKEN_V2: canary,
  };

  function build(): void {
    for (const [name, text] of Object.entries(homeFiles)) put(join(home, name), text);
    for (const [name, text] of Object.entries(projectFiles)) put(join(cwd, name), text);
    for (const name of planted) put(join(cwd, name), `#!/bin/sh\n: > ${root}/MARK\n`, 0o755);
    symlinkSync("..", join(cwd, "up"));
    symlinkSync("../.bashrc", join(cwd, "linked.tgz"));
    const git = (...args: string[]) => execFileSync("git", args, { cwd, env });
    git("init", "-q", "-b", "main");
    git("add", "README.md", "src", "package.json");
    git("commit", "-qm", "all");
    git("branch", "topic");
    cpSync(home, template, { recursive: true, verbatimSymlinks: true });
  }

  function reset(): void {
    rmSync(home, { recursive: true, force: true });
    rmSync(join(root, "MARK"), { force: true });
    cpSync(template, home, { recursive: true, verbatimSymlinks: true });
  }

  const host = createNodeHost({ outputsDir: spool });
  const policy = createPermissionPolicy(() => "bash");
  const here: DecisionContext = { ...context, cwd, home, ownHome: join(home, ".tinman"), temp: "/nowhere/tmp" };
  const processes = createProcesses({ environment: env });
  build();
  const before = snapshot(root);

  async function classOf(command: string): Promise<string> {
    const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, here);
    const places = await host.guards.leadTo(policy.namedPlaces(here));
    const repositories = await host.guards.repositories([cwd], { below: true });
    const decision = policy.decide(accesses, { ...here, reached: places, repositories, autonomy: "medium" });
    return decision.verdict === "allow" ? decision.class : "above";
  }

  return {
    home,
    path: env.PATH,
    async try(command, given) {
      const found = given ?? (await classOf(command));
      if (found === "above") return { class: found, faults: [], changed: false };
      const spec = { command, cwd, timeoutMs: 10_000, spoolPath: join(spool, "whole"), keepBytes: 20_000 };
      const run = await processes.run({ ...spec, onProgress: () => undefined }, new AbortController().signal);
      const after = snapshot(root);
      const changes = [...new Set([...before.keys(), ...after.keys()])].filter(
        (path) => before.get(path) !== after.get(path) && !path.startsWith("spool"),
      );
      if (changes.length > 0) reset();
      const faults = [
        ...(`${run.head}${run.tail}`.includes(canary) ? ["printed a secret"] : []),
        ...(run.end.type === "timeout" ? ["did not end"] : []),
        ...changes.filter((path) => isBeyond(path, found)).map((path) => `changed ${path}`),
      ];
      return { class: found, faults, changed: changes.length > 0 };
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Whether a change exceeds a class. The marker shows that a program from the repository ran. */
function isBeyond(path: string, accessClass: string): boolean {
  if (/(^|\/)MARK$/.test(path) || accessClass === "read") return true;
  const inProject = path.startsWith("home/project/");
  if (accessClass === "low" && !inProject) return true;
  return inProject ? /^home\/project\/\.git\/(hooks|config)/.test(path) : !path.startsWith("home/other/");
}

/** Every file and link below a folder with its content. In `.git`, only what makes git run programs. */
function snapshot(folder: string, below = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(join(folder, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    const full = join(folder, path);
    const stats = lstatSync(full);
    if (/\/\.git\/(?!hooks|config|HEAD)/.test(path)) continue;
    if (stats.isSymbolicLink()) found.set(path, `-> ${readlinkSync(full)}`);
    else if (stats.isDirectory()) {
      found.set(path, "folder");
      for (const [inner, content] of snapshot(folder, path)) found.set(inner, content);
    } else found.set(path, readFileSync(full, "latin1"));
  }
  return found;
}
