import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const program = `
  const { monitorEventLoopDelay } = require("node:perf_hooks");
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  process.stdin.on("data", () => {
    console.log(Math.max(0, delay.max / 1e9 - 0.02));
    delay.reset();
  });
  process.stdin.on("end", () => process.exit());`;

/** How late an idle process is: on a busy machine, every process is that late. */
export interface IdleLoop {
  /** Maximum seconds since the last call. */
  delay(): Promise<number>;
  stop(): Promise<void>;
}

export function startIdleLoop(): IdleLoop {
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface(child.stdout);
  return {
    async delay() {
      const line = once(lines, "line");
      child.stdin.write("?");
      return Number((await line)[0]);
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
