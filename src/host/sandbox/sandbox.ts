import { realpathSync } from "node:fs";
import { basename } from "node:path";
import type { Contained, Sandbox, SandboxStatus } from "../../engine/containment.ts";
import { harmlessGitSettings } from "../git/git-credentials.ts";
import { isThere } from "../git/repository.ts";
import { ownProgram } from "../processes/executables.ts";
import { type Background, type BackgroundSpec, startContained } from "./background.ts";
import { bubblewrapOptions, unchangeable } from "./bubblewrap.ts";
import type { ContainedStart } from "./contained-start.ts";
import { couldNotContain, launcherTries } from "./launcher-words.ts";
import { createOwnPlaces } from "./own-places.ts";
import { sandboxExec, seatbeltProfile } from "./seatbelt.ts";
import { createSessionSpace, type SessionSpace } from "./session-space.ts";
import { sessionTemp } from "./session-temp.ts";
import { probeSandbox } from "./status.ts";
import { goFlagsFor, toolEnvironment } from "./tool-environment.ts";
import { ownGitFolders, redirectionsIn, removeNew, withoutHooks } from "./walls/git-walls.ts";
import { listeningSockets, runFolders } from "./walls/hidden-sockets.ts";
import { makeFolders, makePlaces } from "./walls/made-places.ts";
import { holdPlaces } from "./walls/mount-points.ts";
import { neededOfRun } from "./walls/needed-of-run.ts";
import { type HomesFolders, othersHomes, systemHomes } from "./walls/other-homes.ts";
import { planWalls } from "./walls/walls.ts";

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

/** The ssh agent's socket, for a command that can read `.ssh`. */
function agentFor(shown: readonly string[], environment: Environment): readonly string[] {
  const agent = environment.SSH_AUTH_SOCK;
  if (agent === undefined || !shown.some((path) => basename(path) === ".ssh")) return [];
  try {
    return [realpathSync.native(agent)];
  } catch {
    return [];
  }
}

/** Opens the seccomp filter for the launcher. */
const withFilter = `exec "$@" 7<"$0"`;

/** Contains commands with bubblewrap, or on macOS with sandbox-exec. */
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
    // If that fails, the command is contained in its own namespaces.
    await session.space.catch(() => undefined);
  }

  async function start(
    { sessionId, walls }: Contained,
    cwd: string,
    environment: Environment,
    inBackground: boolean,
  ): Promise<ContainedStart> {
    const isMac = process.platform === "darwin";
    const bwrap = process.platform === "linux" ? ownProgram("bwrap", cwd) : undefined;
    if (bwrap === undefined && !isMac) throw new Error(couldNotContain("bwrap was not found"));
    const [sockets, space, known] = await Promise.all([
      listeningSockets(walls),
      spaceOf(sessionOf(sessionId)),
      getStatus(),
      places.prepare(sessionId),
    ]);
    const temp = sessionTemp(sessionId);
    await makePlaces(walls);
    const [repositories, newFolders] = await Promise.all([
      ownGitFolders(walls.repositories, cwd),
      makeFolders(walls.newFolders),
    ]);
    const absent = walls.unwanted.filter((path) => !isThere(path));
    const others = othersHomes(walls, cwd, environment, homes);
    const plan = await planWalls({
      ...walls,
      writable: [...walls.writable, ...repositories, ...newFolders],
      hidden: [...walls.hidden, ...others.hidden, ...runFolders, places.root, ...sockets],
      shown: [
        ...[...walls.shown, ...others.shown, ...agentFor(walls.shown, environment)],
        ...[...neededOfRun(environment.PATH), ...(await harmlessGitSettings(walls.hidden)), temp],
        // Our own ripgrep settings. The user's stay hidden.
        ...(environment.RIPGREP_CONFIG_PATH === undefined ? [] : [environment.RIPGREP_CONFIG_PATH]),
      ],
    });
    // macOS uses a profile instead of mounts, so no folder must exist.
    const held = holdPlaces(isMac ? { ...plan, missing: [] } : plan);
    const redirections = redirectionsIn(walls.writable);
    const common = {
      environment: {
        ...toolEnvironment(environment, temp, {
          writable: [...walls.writable, ...walls.caches],
          network: walls.network,
          repositories: walls.repositories,
          goFlags: goFlagsFor(plan.missingKept, cwd, environment.GOFLAGS),
        }),
        ...(walls.runsHooks ? {} : withoutHooks(environment)),
      },
      heldFolders: held.folders,
      async finish() {
        const changed = await held.release();
        const removed = removeNew(absent);
        const made = redirectionsIn(walls.writable).filter((path) => !redirections.includes(path));
        return [
          ...changed.map((path) => `[${path} appeared or changed while this command ran. Check it before you use it.]`),
          ...removed.map((path) => `[${path} was removed: it appeared while this command ran.]`),
          ...made.map((path) => `[${path} is new: git reads settings through it. Check it before you use git here.]`),
        ];
      },
    };
    if (bwrap === undefined) {
      const profile = seatbeltProfile({ network: walls.network, mounts: plan.mounts });
      const launcher = [sandboxExec, "-p", profile];
      return { ...common, launcher, options: new Uint8Array(), ownProcesses: false };
    }
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
    const filtered = places.filterFile === undefined ? [] : ["/bin/sh", "-c", withFilter, places.filterFile];
    const filter = places.filterFile === undefined ? [] : ["--seccomp", "7"];
    return {
      ...common,
      launcher: [
        ...joined,
        ...filtered,
        ...unchangeable(bwrap),
        "--args",
        "4",
        "--json-status-fd",
        "5",
        ...filter,
        "--",
      ],
      options: Buffer.from(`${options.join("\0")}\0`),
      ownProcesses: seesSession ? false : processes === "below" ? "below" : "here",
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
