import { existsSync, readFileSync } from "node:fs";
import type { SandboxStatus } from "../../engine/containment.ts";
import { startProgram } from "../processes/start-program.ts";
import { bubblewrapOptions, unchangeable } from "./bubblewrap.ts";
import { sandboxExec, seatbeltProfile } from "./seatbelt.ts";

const limitMs = 5000;
const weakness =
  "This bubblewrap is older than 0.8, so commands can create user namespaces and reach control groups. Update it.";
const install = "Install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap).";

function setting(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** The settings that prevent user namespaces here. The kernel's also hold in a container. */
function adviceFor(): string {
  if (setting("/proc/sys/kernel/unprivileged_userns_clone") === "0") {
    return "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1.";
  }
  if (setting("/proc/sys/user/max_user_namespaces") === "0") {
    return "Allow user namespaces: sysctl user.max_user_namespaces=10000.";
  }
  if (existsSync("/.dockerenv") || existsSync("/run/.containerenv")) {
    return "Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined.";
  }
  if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1") {
    return "Allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap.";
  }
  return "Ask the administrator of this machine to allow unprivileged user namespaces.";
}

/** Why the launcher fails; `undefined` if it works. */
function probe(launcher: string, options: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = startProgram(launcher, [...options, "/bin/sh", "-c", ":"], {
      cwd: "/",
      env: { LC_ALL: "C" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let words = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      words += bytes.toString("utf8");
    });
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve("it did not answer");
    }, limitMs);
    const finish = (problem: string | undefined) => {
      clearTimeout(timer);
      resolve(problem);
    };
    child.once("error", (error) => finish(error.message));
    child.once("close", (code, signal) => {
      const ending = signal === null ? `exit ${code}` : `it was killed by ${signal}`;
      finish(code === 0 ? undefined : words.trim().split("\n").at(-1) || ending);
    });
  });
}

function probeBubblewrap(bwrap: string, canNest: boolean): Promise<string | undefined> {
  const [program = bwrap, ...before] = unchangeable(bwrap);
  const options = bubblewrapOptions({
    ...({ network: "session", ownProcesses: true, inSessionNetwork: false } as const),
    ...{ mounts: [], emptyFile: "", cwd: "/", canNest },
  });
  return probe(program, [...before, ...options, "--die-with-parent", "--"]);
}

/** Whether commands can be contained, tested by containing one. Never rejects. */
export async function probeSandbox(bwrap: string | undefined, nsenter: string | undefined): Promise<SandboxStatus> {
  if (process.platform === "darwin") {
    const problem = await probe(sandboxExec, ["-p", seatbeltProfile({ network: "session", mounts: [] })]);
    if (problem === undefined) return { works: true, mechanism: "sandbox-exec", sharesNetwork: false };
    return {
      works: false,
      why: `sandbox-exec does not work here: ${problem}.`,
      advice: "Run Tinman outside other sandboxes.",
    };
  }
  if (process.platform !== "linux") {
    const why = `Commands cannot be contained on this system yet (${process.platform}).`;
    return { works: false, why, advice: "Run Tinman on Linux, in a virtual machine or a container." };
  }
  if (bwrap === undefined) return { works: false, why: "bubblewrap is not installed.", advice: install };
  const works = { works: true, mechanism: "bubblewrap", sharesNetwork: nsenter !== undefined } as const;
  const problem = await probeBubblewrap(bwrap, false);
  if (problem === undefined) return works;
  const isAboutNesting = /userns|user_namespaces/.test(problem);
  if (isAboutNesting && (await probeBubblewrap(bwrap, true)) === undefined) return { ...works, weakness };
  return { works: false, why: `bubblewrap does not work here: ${problem}.`, advice: adviceFor() };
}
