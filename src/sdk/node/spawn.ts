import type { Connect } from "../api.ts";
import { aListOfStrings, aNumberFrom, anObject, aString, type Checks, checkEach } from "../checks.ts";
import type { SpawnBounds, SpawnOptions } from "./start-backend.ts";

export type { SpawnBounds, SpawnOptions };

export const spawnChecks: Checks<keyof SpawnOptions> = {
  executable: ["the name or the path of a program", (value) => typeof value === "string" && value !== ""],
  args: aListOfStrings,
  command: aString,
  cwd: aString,
  env: anObject,
  stderrBytes: aNumberFrom(0),
  maxLineBytes: aNumberFrom(1),
};

/** Starts a backend for each connection. The signal of `connect` only affects the start. */
export function spawnBackend(options: SpawnOptions = {}, bounds: Partial<SpawnBounds> = {}): Connect {
  checkEach("spawnBackend", options, spawnChecks);
  return async (signal) => {
    signal?.throwIfAborted();
    // Loaded only when a process is started.
    return (await import("./start-backend.ts")).startBackend(options, bounds, signal);
  };
}
