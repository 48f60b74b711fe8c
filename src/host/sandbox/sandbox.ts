import type { Contained, Sandbox, SandboxStatus } from "../../engine/containment.ts";
import { ownProgram } from "../processes/executables.ts";
import { type Background, type BackgroundSpec, startContained } from "./background.ts";
import { bubblewrapOptions } from "./bubblewrap.ts";
import type { ContainedStart } from "./contained-start.ts";
import { listeningSockets, runFolders } from "./hidden-sockets.ts";
import { holdPlaces } from "./mount-points.ts";
import { neededOfRun } from "./needed-of-run.ts";
import { createOwnPlaces } from "./own-places.ts";
import { createSessionNetwork, type SessionNetwork } from "./session-network.ts";
import { sessionTemp } from "./session-temp.ts";
import { probeSandbox } from "./status.ts";
import { toolEnvironment } from "./tool-environment.ts";
import { planWalls } from "./walls.ts";

type Environment = Readonly<Record<string, string>>;

export interface HostSandbox extends Sandbox {
  /** Prepares the start of one contained command. Rejects if it cannot be contained. */
  contain(contained: Contained, cwd: string, environment: Environment): Promise<ContainedStart>;
  /** Rejects if the command cannot be contained. */
  startBackground(
    spec: BackgroundSpec,
    contained: Contained,
    environment: Environment,
  ): Promise<{ readonly pid: number }>;
}

interface Session {
  network?: Promise<SessionNetwork>;
  readonly backgrounds: Set<Background>;
}

/** Contains commands with bubblewrap. */
export function createHostSandbox(): HostSandbox {
  const places = createOwnPlaces();
  const sessions = new Map<string, Session>();
  let status: Promise<SandboxStatus> | undefined;

  const sessionOf = (id: string): Session => {
    const session = sessions.get(id) ?? { backgrounds: new Set() };
    sessions.set(id, session);
    return session;
  };

  async function networkOf(session: Session): Promise<SessionNetwork | undefined> {
    const network = await session.network?.catch(() => undefined);
    return network?.isAlive() === true ? network : undefined;
  }

  async function ensureNetwork(session: Session, cwd: string): Promise<void> {
    const bwrap = ownProgram("bwrap", cwd);
    const nsenter = ownProgram("nsenter", cwd);
    if (bwrap === undefined || nsenter === undefined || (await networkOf(session)) !== undefined) return;
    session.network = createSessionNetwork({ bwrap, nsenter });
    await session.network;
  }

  async function contain(
    { sessionId, walls }: Contained,
    cwd: string,
    environment: Environment,
  ): Promise<ContainedStart> {
    const bwrap = process.platform === "linux" ? ownProgram("bwrap", cwd) : undefined;
    if (bwrap === undefined)
      throw new Error("The command could not be contained, so it was not run: bwrap was not found.");
    const session = sessionOf(sessionId);
    const [sockets, network] = await Promise.all([
      listeningSockets(),
      walls.network === "session" ? networkOf(session) : undefined,
      places.prepare(sessionId),
    ]);
    const temp = sessionTemp(sessionId);
    const isWritable = (path: string) =>
      walls.writable.some((folder) => path === folder || path.startsWith(`${folder}/`));
    const plan = await planWalls({
      ...walls,
      hidden: [...walls.hidden, ...runFolders, places.root, ...sockets.filter((path) => !isWritable(path))],
      shown: [...walls.shown, ...neededOfRun(environment.PATH), temp],
    });
    const held = holdPlaces(plan);
    const options = bubblewrapOptions({
      walls,
      mounts: plan.mounts.filter(({ path }) => !held.impossible.has(path)),
      emptyFile: places.emptyFile,
      cwd,
      inSessionNetwork: network !== undefined,
    });
    return {
      launcher: [...(network?.launcher ?? []), bwrap, "--args", "4", "--json-status-fd", "5", "--"],
      options: Buffer.from(`${options.join("\0")}\0`),
      environment: toolEnvironment(environment, temp, walls.writable),
      ownProcesses: walls.processes === "own",
      heldFolders: held.folders,
      async finish() {
        const changed = await held.release();
        return changed.map(
          (path) => `[${path} appeared or changed while this command ran. Check it before you use it.]`,
        );
      },
    };
  }

  return {
    status() {
      status ??= probeSandbox(ownProgram("bwrap", process.cwd()), ownProgram("nsenter", process.cwd()));
      return status;
    },
    tempOf: sessionTemp,
    hasServers: (sessionId) => (sessions.get(sessionId)?.backgrounds.size ?? 0) > 0,
    contain,
    async startBackground(spec, contained, environment) {
      const session = sessionOf(contained.sessionId);
      if (contained.walls.network === "session") await ensureNetwork(session, spec.cwd);
      const start = await contain(contained, spec.cwd, environment);
      const background = await startContained(spec, environment, start);
      session.backgrounds.add(background);
      void background.over.then(() => session.backgrounds.delete(background));
      return { pid: background.pid };
    },
    async endSession(sessionId) {
      const session = sessions.get(sessionId);
      if (session === undefined) return;
      sessions.delete(sessionId);
      await Promise.all([...session.backgrounds].map((background) => background.end()));
      await (await networkOf(session))?.end();
      await places.remove(sessionId);
    },
  };
}
