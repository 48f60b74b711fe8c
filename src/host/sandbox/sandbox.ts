import { constants, realpathSync } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Contained, Containment, Sandbox, SandboxStatus } from "../../engine/containment.ts";
import { harmlessGitSettings } from "../git/git-credentials.ts";
import { isThere, looksLikeGit } from "../git/repository.ts";
import { ownProgram } from "../processes/executables.ts";
import { type Background, type BackgroundSpec, startContained } from "./background.ts";
import { bubblewrapOptions, unchangeable } from "./bubblewrap.ts";
import type { ContainedStart } from "./contained-start.ts";
import { listeningSockets, runFolders } from "./hidden-sockets.ts";
import { couldNotContain, launcherTries } from "./launcher-words.ts";
import { holdPlaces } from "./mount-points.ts";
import { neededOfRun } from "./needed-of-run.ts";
import { type HomesFolders, othersHomes, systemHomes } from "./other-homes.ts";
import { createOwnPlaces } from "./own-places.ts";
import { createSessionSpace, type SessionSpace } from "./session-space.ts";
import { sessionTemp } from "./session-temp.ts";
import { probeSandbox } from "./status.ts";
import { goFlagsFor, toolEnvironment } from "./tool-environment.ts";
import { planWalls } from "./walls.ts";

type Environment = Readonly<Record<string, string>>;

export interface HostSandbox extends Omit<Sandbox, "seemsToWork"> {
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
  space?: Promise<SessionSpace>;
  readonly backgrounds: Set<Background>;
}

/** The ssh agent's socket, for a command that sees the user's keys anyway. */
function agentFor(shown: readonly string[], environment: Environment): readonly string[] {
  const agent = environment.SSH_AUTH_SOCK;
  if (agent === undefined || !shown.some((path) => basename(path) === ".ssh")) return [];
  try {
    return [realpathSync.native(agent)];
  } catch {
    return [];
  }
}

/** Files in these folders by which git takes its settings from elsewhere. They are ordinary, so they can be created. */
function redirectionsIn(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => [
    ...(!isThere(join(folder, ".git")) && looksLikeGit(folder) ? [join(folder, "HEAD")] : []),
    ...(isThere(join(folder, "commondir")) ? [join(folder, "commondir")] : []),
  ]);
}

/** A mount needs an existing place. A place that cannot be created stays closed, and the command reports it. */
async function makePlaces({ caches, outputs }: Containment): Promise<void> {
  for (const path of caches) await mkdir(path, { recursive: true }).catch(() => undefined);
  for (const path of outputs) {
    // The folder may have become a link since the decision.
    if ((await realpath(dirname(path)).catch(() => undefined)) !== dirname(path)) continue;
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o666).catch(
      () => undefined,
    );
    await file?.close();
  }
}

/** Contains commands with bubblewrap. */
export function createHostSandbox(homes: HomesFolders = systemHomes): HostSandbox {
  const places = createOwnPlaces();
  const sessions = new Map<string, Session>();
  let status: Promise<SandboxStatus> | undefined;

  const getStatus = () => {
    status ??= probeSandbox(ownProgram("bwrap", process.cwd()), ownProgram("nsenter", process.cwd()));
    return status;
  };

  const sessionOf = (id: string): Session => {
    const session = sessions.get(id) ?? { backgrounds: new Set() };
    sessions.set(id, session);
    return session;
  };

  async function spaceOf(session: Session | undefined): Promise<SessionSpace | undefined> {
    const space = await session?.space?.catch(() => undefined);
    return space?.isAlive() === true ? space : undefined;
  }

  /** Created for the first background command: before that, there is no server to reach or process to see. */
  async function ensureSpace(session: Session, cwd: string): Promise<void> {
    const found = ["bwrap", "nsenter", "setsid", "mount"].map((name) => ownProgram(name, cwd));
    const [bwrap, nsenter, setsid, mount] = found;
    if (bwrap === undefined || nsenter === undefined || setsid === undefined || mount === undefined) return;
    if ((await spaceOf(session)) !== undefined) return;
    session.space = createSessionSpace({ bwrap, nsenter, setsid, mount });
    // Without it, the command still is contained, alone.
    await session.space.catch(() => undefined);
  }

  async function start(
    { sessionId, walls }: Contained,
    cwd: string,
    environment: Environment,
    inBackground: boolean,
  ): Promise<ContainedStart> {
    const bwrap = process.platform === "linux" ? ownProgram("bwrap", cwd) : undefined;
    if (bwrap === undefined) throw new Error(couldNotContain("bwrap was not found"));
    const [sockets, space, known] = await Promise.all([
      listeningSockets(walls),
      spaceOf(sessionOf(sessionId)),
      getStatus(),
      places.prepare(sessionId),
    ]);
    const temp = sessionTemp(sessionId);
    await makePlaces(walls);
    const others = othersHomes(walls, cwd, environment, homes);
    const plan = await planWalls({
      ...walls,
      hidden: [...walls.hidden, ...others.hidden, ...runFolders, places.root, ...sockets],
      shown: [
        ...[...walls.shown, ...others.shown, ...agentFor(walls.shown, environment)],
        ...[...neededOfRun(environment.PATH), ...(await harmlessGitSettings(walls.hidden)), temp],
        // Ours, without what the user's says.
        ...(environment.RIPGREP_CONFIG_PATH === undefined ? [] : [environment.RIPGREP_CONFIG_PATH]),
      ],
    });
    const held = holdPlaces(plan);
    const redirections = redirectionsIn(walls.writable);
    const network = walls.network === "session" && space !== undefined;
    const seesSession = walls.processes === "session" && space !== undefined;
    const processes = seesSession ? "seen" : inBackground && space !== undefined ? "below" : "none";
    const options = bubblewrapOptions({
      network: walls.network,
      ownProcesses: !seesSession,
      mounts: plan.mounts.filter(({ path }) => !held.impossible.has(path)),
      emptyFile: places.emptyFile,
      cwd,
      inSessionNetwork: network,
      canNest: known.works && known.weakness !== undefined,
    });
    const joined = network || processes !== "none" ? (space?.enter({ network, processes }) ?? []) : [];
    return {
      launcher: [...joined, ...unchangeable(bwrap), "--args", "4", "--json-status-fd", "5", "--"],
      options: Buffer.from(`${options.join("\0")}\0`),
      environment: toolEnvironment(environment, temp, {
        writable: [...walls.writable, ...walls.caches],
        network: walls.network,
        goFlags: goFlagsFor(plan.missingKept, cwd, environment.GOFLAGS),
      }),
      ownProcesses: seesSession ? false : processes === "below" ? "below" : "here",
      heldFolders: held.folders,
      async finish() {
        const changed = await held.release();
        const made = redirectionsIn(walls.writable).filter((path) => !redirections.includes(path));
        return [
          ...changed.map((path) => `[${path} appeared or changed while this command ran. Check it before you use it.]`),
          ...made.map(
            (path) => `[${path} is new: git takes its settings from there. Check it before you use git here.]`,
          ),
        ];
      },
    };
  }

  return {
    status: getStatus,
    tempOf: sessionTemp,
    hasServers: (sessionId) => (sessions.get(sessionId)?.backgrounds.size ?? 0) > 0,
    contain: (contained, cwd, environment) => start(contained, cwd, environment, false),
    async startBackground(spec, contained, environment) {
      const session = sessionOf(contained.sessionId);
      await ensureSpace(session, spec.cwd);
      const attempt = async () =>
        startContained(spec, environment, await start(contained, spec.cwd, environment, true));
      let starting = attempt();
      for (let tries = 1; tries < launcherTries; tries += 1) starting = starting.catch(attempt);
      const background = await starting;
      if (sessions.get(contained.sessionId) !== session) {
        await background.end();
        throw new Error("The session has ended.");
      }
      session.backgrounds.add(background);
      background.over.then(() => session.backgrounds.delete(background)).catch(() => undefined);
      return { pid: background.pid };
    },
    async endSession(sessionId) {
      const session = sessions.get(sessionId);
      if (session === undefined) return;
      sessions.delete(sessionId);
      await Promise.all([...session.backgrounds].map((background) => background.end()));
      await (await spaceOf(session))?.end();
      await places.remove(sessionId);
    },
  };
}
