import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Containment } from "../../../src/engine/containment.ts";
import type { CommandResult, CommandSpec } from "../../../src/engine/ports.ts";
import { createProcesses } from "../../../src/host/processes/processes.ts";
import { createHostSandbox, type HostSandbox } from "../../../src/host/sandbox/sandbox.ts";

let said = false;

/** Whether commands can be contained on this machine. If not, one line says why: the tests check the fallback instead. */
export async function canContain(): Promise<boolean> {
  const status = await createHostSandbox().status();
  if (!status.works && !said) {
    process.stderr.write(`Commands are not contained in these tests: ${status.why} ${status.advice}\n`);
    said = true;
  }
  return status.works;
}

/** Once per test file, for machines where commands cannot be contained. */
export function testRefusal(): void {
  test("a command that cannot be contained does not run", async () => {
    const world = await createWorld("refused");
    onTestFinished(world.end);
    const result = await world.run("echo ran");
    expect(result.end).toEqual({ type: "unstartable", message: expect.stringContaining("could not be contained") });
    expect(result.head).toBe("");
    await expect(world.startBackground("echo ran")).rejects.toThrow("could not be contained");
  });
}

export interface World {
  readonly sandbox: HostSandbox;
  readonly sessionId: string;
  /** Contains everything below. */
  readonly folder: string;
  readonly home: string;
  readonly workspace: string;
  walls(changes?: Partial<Containment>): Containment;
  /** `null` runs it bare. */
  run(command: string, walls?: Partial<Containment> | null, changes?: Partial<RunChanges>): Promise<CommandResult>;
  startBackground(command: string, walls?: Partial<Containment>): Promise<{ pid: number; outputPath: string }>;
  /** Ends the session and removes the folder. */
  end(): Promise<void>;
}

export type RunChanges = Omit<CommandSpec, "command" | "contained"> & {
  readonly signal: AbortSignal;
  readonly variables: Readonly<Record<string, string>>;
};

/** A home and a workspace, and a session whose commands are contained in it. */
export async function createWorld(name: string): Promise<World> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `tinman-${name}-`)));
  const home = join(folder, "home");
  const workspace = join(folder, "workspace");
  await mkdir(home);
  await mkdir(workspace);
  const sandbox = createHostSandbox({ folders: [join(folder, "homes")], roots: [join(folder, "root")] });
  const sessionId = `test-${crypto.randomUUID()}`;
  const environment = { ...process.env, HOME: home };
  let outputs = 0;
  const walls = (changes: Partial<Containment> = {}): Containment => ({
    writable: [workspace, sandbox.tempOf(sessionId)],
    ...{
      caches: [],
      repositories: [],
      newFolders: [],
      unwanted: [],
      runsHooks: true,
      outputs: [],
      kept: [],
      barred: [],
    },
    hidden: [],
    shown: [],
    network: "session",
    processes: "own",
    ...changes,
  });
  return {
    ...{ sandbox, sessionId, folder, home, workspace, walls },
    run(command, asked = {}, { signal, variables, ...changes } = {}) {
      const processes = createProcesses({
        environment: { ...environment, ...variables },
        sandbox: async () => sandbox,
      });
      return processes.run(
        {
          command,
          cwd: workspace,
          timeoutMs: 20_000,
          spoolPath: join(folder, "spool"),
          keepBytes: 64 * 1024,
          onProgress: () => undefined,
          ...changes,
          ...(asked === null ? {} : { contained: { sessionId, walls: walls(asked) } }),
        },
        signal ?? new AbortController().signal,
      );
    },
    async startBackground(command, asked = {}) {
      outputs += 1;
      const outputPath = join(folder, `output-${outputs}`);
      const contained = { sessionId, walls: walls(asked) };
      const processes = createProcesses({ environment, sandbox: async () => sandbox });
      return { ...(await processes.startBackground({ command, cwd: workspace, outputPath, contained })), outputPath };
    },
    async end() {
      await sandbox.endSession(sessionId);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
