// Ends the process like `kill -9`, at one of its writes: FAULT_AT is "<which> before|torn|after".
const { promises, writeSync } = require("node:fs");

const [which, place] = (process.env.FAULT_AT ?? "").split(" ");
const { open } = promises;
let writes = 0;

const die = () => process.kill(process.pid, "SIGKILL");

/** @param {any} given */
promises.open = async (...given) => {
  const file = await open.apply(promises, given);
  for (const name of /** @type {const} */ (["write", "datasync"])) {
    /** @type {(...given: any[]) => Promise<any>} */
    const act = file[name].bind(file);
    Object.assign(file, {
      /** @param {any[]} args */
      [name]: async (...args) => {
        writes += 1;
        if (writes !== Number(which)) return act(...args);
        const [bytes] = args;
        if (place === "torn" && name === "write") writeSync(file.fd, bytes, 0, Math.ceil(bytes.length / 2));
        if (place === "after") await act(...args);
        die();
        return new Promise(() => {});
      },
    });
  }
  return file;
};
