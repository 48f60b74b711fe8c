// Delays every write, sync and open by a random time. FAULT_DISK is "<seed> <least ms> <most ms>"; FAULT_TRACE names a
// file that records all of them in order.
const fs = require("node:fs");

const [from = "0", least = "20", most = "200"] = (process.env.FAULT_DISK ?? "").split(" ");
const trace = process.env.FAULT_TRACE;
let state = Number(from) >>> 0;
const drawMs = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Number(least) + Math.floor((state / 2 ** 32) * (Number(most) - Number(least)));
};
const wait = () => new Promise((resolve) => setTimeout(resolve, drawMs()));
/** @param {string} line */
const tell = (line) => trace !== undefined && appendFileSync(trace, `${line}\n`);
const { appendFileSync, openSync } = fs;

const { open } = fs.promises;
/** @param {any} given */
fs.promises.open = async (...given) => {
  await wait();
  const file = await open.apply(fs.promises, given);
  for (const name of /** @type {const} */ (["write", "datasync", "sync", "truncate", "close"])) {
    /** @type {(...given: any[]) => Promise<any>} */
    const act = file[name].bind(file);
    Object.assign(file, {
      /** @param {any[]} args */
      [name]: async (...args) => {
        await wait();
        const done = await act(...args);
        tell(name);
        return done;
      },
    });
  }
  return file;
};

/** @param {any} given */
fs.openSync = (...given) => {
  if (String(given[1]).startsWith("w")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, drawMs());
  return openSync.apply(fs, given);
};
