import { once } from "node:events";
import { WebSocket } from "ws";

/**
 * A client of `/ws`, and of the floor, which echoes requests as responses. The same code reads both.
 *
 * @typedef {{ readonly url: string, readonly token?: string | undefined }} Address
 * @typedef {Awaited<ReturnType<typeof connect>>} Client
 * @typedef {{ readonly first: number, readonly whole: number, readonly text: string, readonly arrivals: readonly number[] }} Turn Milliseconds
 * from the message to the first chunk and to the end; the joined text; arrival times.
 */

const patience = 120_000;

/** @param {Address} address */
export async function connect({ url, token }) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, { perMessageDeflate: false, headers });
  /** @type {Map<number, { resolve(answer: { at: number, result: any }): void, reject(error: Error): void }>} */
  const asked = new Map();
  /** @type {Map<string, { read(params: any, at: number): void, reject(error: Error): void }>} */
  const readers = new Map();
  let lastId = 0;
  let chunks = 0;

  socket.on("message", (data) => {
    const at = performance.now();
    const { id, method, params, result, error } = JSON.parse(String(data));
    if (id !== undefined) {
      const wait = asked.get(id);
      asked.delete(id);
      if (error) wait?.reject(new Error(JSON.stringify(error)));
      else wait?.resolve({ at, result });
    } else if (method === "AIMessageChunkNotification") {
      chunks += 1;
      readers.get(params.sessionId)?.read(params, at);
    } else if (params.status === 2) readers.get(`end of ${params.sessionId}`)?.read(params, at);
    else if (params.status === 3 || method === "ErrorNotification") fail(JSON.stringify(params));
  });
  socket.on("close", (code) => fail(`it closed with ${code}`));
  await once(socket, "open");

  /** @param {string} why */
  function fail(why) {
    for (const { reject } of [...asked.values(), ...readers.values()]) reject(new Error(`${url}: ${why}`));
    asked.clear();
    socket.terminate();
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {Promise<{ readonly at: number, readonly result: any }>}
   */
  function request(method, params) {
    const id = ++lastId;
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve, reject) => asked.set(id, { resolve, reject }));
  }

  /**
   * Reads notifications until `read` returns a value.
   * @template T
   * @param {string} key
   * @param {(params: any, at: number) => T | undefined} read
   * @returns {Promise<T>}
   */
  function until(key, read) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    /** @type {Promise<T>} */
    const ended = new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${url}: no end within ${patience / 1000} s`)), patience);
      const take = (/** @type {any} */ params, /** @type {number} */ at) => {
        const value = read(params, at);
        if (value !== undefined) resolve(value);
      };
      readers.set(key, { read: take, reject });
    });
    return ended.finally(() => {
      clearTimeout(timer);
      readers.delete(key);
    });
  }

  /**
   * @param {string} sessionId
   * @param {number} answers the number of answers to wait for
   * @returns {Promise<Turn>}
   */
  function hear(sessionId, answers = 1) {
    const askedAt = performance.now();
    let [text, left] = ["", answers];
    /** @type {number[]} */
    const arrivals = [];
    return until(sessionId, ({ chunk, isFinal }, at) => {
      text += chunk;
      if (chunk !== "") arrivals.push(at);
      if (!isFinal || --left > 0) return undefined;
      return { first: (arrivals[0] ?? Number.NaN) - askedAt, whole: at - askedAt, text, arrivals };
    });
  }

  return {
    request,
    hear,
    /** Number of chunks so far. */
    chunks: () => chunks,
    /** Milliseconds until the response. */
    async roundTrip(/** @type {string} */ method, /** @type {object} */ params) {
      const askedAt = performance.now();
      return (await request(method, params)).at - askedAt;
    },
    async start() {
      const { result } = await request("startSession", { userId: "bench" });
      return /** @type {string} */ (result.sessionId);
    },
    /**
     * @param {string} sessionId
     * @param {string} message
     */
    async turn(sessionId, message) {
      const heard = hear(sessionId);
      await request("sendUserMessage", { sessionId, message });
      return heard;
    },
    /** @param {string} sessionId */
    async stop(sessionId) {
      const ended = until(`end of ${sessionId}`, () => true);
      await request("stopSession", { sessionId });
      await ended;
    },
    send: (/** @type {object} */ frame) => socket.send(JSON.stringify(frame)),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    async close() {
      if (socket.readyState === socket.CLOSED) return;
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
}

/**
 * Runs this many, a few at a time.
 * @template T
 * @param {number} count
 * @param {(index: number) => T | Promise<T>} work
 * @returns {Promise<T[]>}
 */
export async function many(count, work) {
  /** @type {T[]} */
  const done = [];
  for (let from = 0; from < count; from += 20) {
    const size = Math.min(20, count - from);
    done.push(...(await Promise.all(Array.from({ length: size }, (_, index) => work(from + index)))));
  }
  return done;
}

/** @param {readonly Client[]} clients */
export async function closeAll(clients) {
  await Promise.all(clients.map((client) => client.close()));
}
