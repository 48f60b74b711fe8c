import { fstatSync, readFileSync } from "node:fs";

/** Node cannot tell how many bytes a pipe holds without reading them. Perl can, and is part of every Debian and macOS. */
const perl = "/usr/bin/perl";
/** FIONREAD of Linux on Node's processors. Exits with 0 if bytes are waiting. */
const askPerl = 'my $n = pack("L", 0); ioctl(STDIN, 0x541B, $n) or exit 2; exit(unpack("L", $n) > 0 ? 0 : 1)';
const perlMs = 1_000;

/** Whether bytes wait on standard input, without reading or blocking. False if that is unknown. */
export async function hasWaitingInput(): Promise<boolean> {
  try {
    const stat = fstatSync(0);
    if (stat.isFile()) return stat.size > position();
    if (!stat.isFIFO() && !stat.isSocket()) return false;
    return process.platform === "linux" ? await holdsBytes() : stat.size > 0;
  } catch {
    // Closed, or a system without /proc.
    return false;
  }
}

/** How far standard input was read, by any process. */
function position(): number {
  return Number(/^pos:\s*(\d+)/m.exec(readFileSync("/proc/self/fdinfo/0", "utf8"))?.[1] ?? Number.POSITIVE_INFINITY);
}

async function holdsBytes(): Promise<boolean> {
  const { startProgram } = await import("../../host/processes/start-program.ts");
  return new Promise((resolve) => {
    // An empty environment, because PERL5OPT could run something else.
    const child = startProgram(perl, ["-e", askPerl], {
      stdio: ["inherit", "ignore", "ignore"],
      env: {},
      timeout: perlMs,
    });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}
