// Writes the memory still in use after a garbage collection, in bytes, once a second, to the file LIVE_MEMORY.
const { appendFileSync } = require("node:fs");
const v8 = require("node:v8");
const { runInNewContext } = require("node:vm");

v8.setFlagsFromString("--expose-gc");
/** @type {() => void} */
const collectGarbage = runInNewContext("gc");
// The engine caches compiled code at will, independent of what the program keeps.
const kept = new Set(["old_space", "large_object_space"]);

const measure = () => {
  collectGarbage();
  const spaces = v8.getHeapSpaceStatistics().filter(({ space_name }) => kept.has(space_name));
  const bytes = spaces.reduce((sum, { space_used_size }) => sum + space_used_size, process.memoryUsage().arrayBuffers);
  appendFileSync(process.env.LIVE_MEMORY ?? "", `${bytes}\n`);
};

measure();
setInterval(measure, 1_000).unref();
