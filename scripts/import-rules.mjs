import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The only table of allowed imports. `npm run import-rules` turns it into the Biome overrides next to this file, and the
 * tests check what Biome cannot see (static or lazy, paths that wind through another folder).
 *
 * @typedef {object} Row
 * @property {string} room A folder or file of `src`; `*` matches one name.
 * @property {readonly string[]} may Rooms it may import, besides itself.
 * @property {readonly string[]} [lazily] Rooms and libraries that it may import by `await import()` or as types only.
 * @property {readonly string[]} [libraries]
 * @property {"all" | "no-machine" | "none"} builtins Which modules of Node: `no-machine` is all but those below.
 * @property {true} [alone] It imports no helpers either.
 * @property {true} [startsPrograms] Of those, also the one that starts programs. `all` is all the others.
 */

/** It can start a program by a bare name and with every key of the environment. */
export const startingBuiltin = "node:child_process";

/** Node's access to files, processes and the network, which the Host port replaces. */
export const machineBuiltins = [
  "node:child_process",
  "node:cluster",
  "node:dgram",
  "node:dns",
  "node:dns/promises",
  "node:fs",
  "node:fs/promises",
  "node:http",
  "node:http2",
  "node:https",
  "node:net",
  "node:tls",
  "node:worker_threads",
];

/** Pure helpers: they import nothing, and every row without `alone` can import them. */
export const helpers = ["text", "async"];

/** @type {readonly Row[]} */
const rows = [
  { room: "text", may: [], builtins: "none", alone: true },
  { room: "async", may: [], builtins: "none", alone: true },
  { room: "engine", may: [], libraries: ["zod"], builtins: "none" },
  { room: "access", may: ["engine"], builtins: "none" },
  { room: "permissions/reader", may: ["engine", "permissions"], libraries: ["unbash"], builtins: "none" },
  { room: "permissions", may: ["engine", "permissions/reader"], builtins: "no-machine" },
  { room: "tools", may: ["engine"], libraries: ["diff", "htmlparser2", "zod"], builtins: "no-machine" },
  { room: "pdf", may: ["engine"], lazily: ["unpdf"], builtins: "no-machine" },
  { room: "net", may: [], builtins: "all" },
  { room: "models/calls/ai-sdk-types.ts", may: [], lazily: ["@ai-sdk/provider"], builtins: "none" },
  {
    room: "models/calls/ai-sdk.ts",
    may: ["engine", "models", "models/calls/ai-sdk-types.ts"],
    lazily: ["@ai-sdk/anthropic", "@ai-sdk/google", "@ai-sdk/openai", "@ai-sdk/openai-compatible", "@ai-sdk/provider"],
    builtins: "none",
  },
  {
    room: "models",
    may: ["engine", "models/calls/ai-sdk.ts", "models/calls/ai-sdk-types.ts"],
    libraries: ["zod"],
    builtins: "all",
  },
  { room: "store/listing", may: [], lazily: ["engine"], builtins: "all" },
  { room: "store/lease.ts", may: ["engine", "store", "store/listing"], builtins: "all" },
  { room: "store", may: ["engine", "store/lease.ts", "store/listing"], builtins: "all" },
  { room: "host/processes/start-program.ts", may: [], builtins: "all", startsPrograms: true },
  {
    room: "host",
    may: ["engine", "net", "host/processes/start-program.ts"],
    libraries: ["@vscode/ripgrep"],
    builtins: "all",
  },
  { room: "config/home.ts", may: [], builtins: "all" },
  // Only the build and the tests run it: a run uses the generated config-forms.json.
  { room: "config/schema", may: ["engine", "config"], libraries: ["zod"], builtins: "none" },
  {
    room: "config",
    may: ["engine", "config/home.ts"],
    lazily: ["config/schema", "zod"],
    libraries: ["yaml"],
    builtins: "all",
  },
  {
    room: "mcp/sign-in",
    may: ["engine", "store/lease.ts"],
    lazily: ["@modelcontextprotocol/client"],
    builtins: "all",
  },
  { room: "mcp/entries", may: ["engine", "config", "store/lease.ts"], builtins: "all" },
  {
    room: "mcp",
    may: ["engine", "mcp/entries", "mcp/sign-in"],
    lazily: ["@modelcontextprotocol/client"],
    libraries: ["zod"],
    builtins: "no-machine",
  },
  { room: "protocol", may: [], libraries: ["zod"], builtins: "none", alone: true },
  { room: "rpc", may: [], builtins: "none" },
  {
    room: "sdk/node",
    may: ["rpc", "sdk", "store/listing", "config/home.ts"],
    builtins: "all",
    startsPrograms: true,
  },
  { room: "sdk/node.ts", may: ["sdk", "sdk/node"], builtins: "all" },
  { room: "sdk", may: ["protocol", "rpc"], builtins: "none" },
  { room: "frontends/exit-codes.ts", may: ["engine"], builtins: "none" },
  {
    room: "frontends/front-end.ts",
    may: ["engine", "access", "rpc", "frontends/exit-codes.ts"],
    builtins: "all",
  },
  {
    room: "frontends/acp",
    may: ["engine", "access", "protocol", "rpc", "sdk", "frontends/front-end.ts"],
    libraries: ["@agentclientprotocol/sdk"],
    builtins: "all",
  },
  {
    room: "server",
    may: ["engine", "access", "rpc", "frontends/front-end.ts"],
    libraries: ["prom-client", "ws"],
    builtins: "all",
  },
  {
    room: "connect",
    may: ["engine", "rpc", "host/processes/start-program.ts", "frontends/exit-codes.ts", "frontends/front-end.ts"],
    lazily: ["ws"],
    builtins: "all",
  },
  {
    room: "frontends/*",
    may: ["engine", "access", "protocol", "rpc", "frontends/exit-codes.ts", "frontends/front-end.ts"],
    builtins: "all",
  },
  {
    room: "compose.ts",
    may: [
      "engine",
      "permissions",
      "tools",
      "models",
      "mcp",
      "mcp/entries",
      "mcp/sign-in",
      "net",
      "store",
      "host",
      "config",
      "config/home.ts",
    ],
    builtins: "all",
  },
  {
    room: "commands",
    may: [
      "engine",
      "access",
      "config",
      "host/processes/start-program.ts",
      "mcp/entries",
      "pdf",
      "sdk",
      "sdk/node",
      "compose.ts",
      "frontends/exit-codes.ts",
      "frontends/front-end.ts",
      "frontends/acp",
      "server",
      "connect",
      "frontends/*",
    ],
    libraries: ["commander"],
    builtins: "all",
  },
  { room: "compile-cache.ts", may: [], builtins: "all", alone: true },
  { room: "main.ts", may: ["compile-cache.ts"], lazily: ["commands"], builtins: "none", alone: true },
];

/** @type {readonly Row[]} */
export const importRules = rows.map((row) => (row.alone === true ? row : { ...row, may: [...helpers, ...row.may] }));

/** Files are in their room or at most two folders below it. */
export const deepestLevel = 2;

/** @param {string} room */
export function isFile(room) {
  return room.endsWith(".ts");
}

/** @param {string} name a room or a library, because `lazily` has both */
export function isRoom(name) {
  return importRules.some((row) => row.room === name);
}

/**
 * Files and folders with their own rows are excluded from the row of their folder.
 * @param {string} folder
 */
function roomsIn(folder) {
  const isAny = posix.basename(folder) === "*";
  const around = isAny ? posix.dirname(folder) : folder;
  const inside = importRules
    .map(({ room }) => room)
    .filter((room) => room !== folder && holds(around, room) && room !== around && !(isAny && isFile(room)));
  return inside.filter((room) => !inside.some((other) => other !== room && holds(other, room)));
}

/**
 * The parts of an allowed room that the row cannot import.
 * @param {Row} row
 * @param {string} room
 * @param {string} path the room as the importing file writes it
 */
function innerPatterns(row, room, path) {
  return roomsIn(room)
    .filter((inner) => ![row.room, ...row.may, ...(row.lazily ?? [])].includes(inner))
    .map((inner) => {
      const folder = posix.basename(room) === "*" ? posix.dirname(path) : path;
      const around = posix.basename(room) === "*" ? posix.dirname(room) : room;
      return `${folder}/${posix.relative(around, inner)}${isFile(inner) ? "" : "/**"}`;
    });
}

/**
 * @param {string} room
 * @param {string} folder
 */
function holds(room, folder) {
  return folder === room || folder.startsWith(`${room}/`);
}

/**
 * Biome matches an import's text, not its file, so every depth has its own patterns. The last match wins.
 * @param {Row} row
 * @param {number} level folders between the room and the file
 */
function patternsOf(row, level) {
  const folder = isFile(row.room) ? posix.dirname(row.room) : row.room;
  const here = posix.join(folder, ...Array(level).fill("*"));
  const patterns = ["**"];
  if (!isFile(row.room)) {
    patterns.push("!./**");
    for (let up = 1; up <= level; up++) patterns.push(`!${"../".repeat(up)}**`);
    patterns.push(`${"../".repeat(level + 1)}**`);
    patterns.push(...innerPatterns(row, row.room, level === 0 ? "." : Array(level).fill("..").join("/")));
  }
  const named = [...row.may, ...(row.lazily ?? [])];
  const rooms = named.filter(isRoom);
  // The folder around this one comes first: allowing it also allows what is above, which is then excluded again.
  for (const room of rooms.sort((a, b) => Number(holds(b, here)) - Number(holds(a, here)))) {
    const path = posix.relative(here, room);
    const relative = path.startsWith("..") ? path : path === "" ? "." : `./${path}`;
    patterns.push(isFile(room) ? `!${relative}` : `!${relative}/**`);
    if (!isFile(room) && holds(room, here)) patterns.push("!./**");
    if (relative !== "." && holds(room, here)) patterns.push(`${relative}/../**`);
    patterns.push(...innerPatterns(row, room, relative));
  }
  for (const library of [...(row.libraries ?? []), ...named.filter((name) => !isRoom(name))]) {
    patterns.push(`!${library}`, `!${library}/**`);
  }
  if (row.builtins !== "none") patterns.push("!node:*", "!node:*/**");
  if (row.builtins === "no-machine") patterns.push(...machineBuiltins);
  if (row.startsPrograms !== true) patterns.push(startingBuiltin);
  return patterns;
}

/** @param {Row} row */
export function messageOf(row) {
  const rooms = row.may.length > 0 ? row.may.join(", ") : "nothing else of ours";
  const lazily = row.lazily ? `; by await import() also ${row.lazily.join(", ")}` : "";
  const libraries = row.libraries?.join(", ") ?? "none";
  return `src/${row.room} may import ${rooms}${lazily}. Libraries: ${libraries}. Node's modules: ${row.builtins}. See scripts/import-rules.mjs.`;
}

/** @param {string} room */
function excluded(room) {
  return isFile(room) ? `!src/${room}` : `!src/${room}/**`;
}

export function biomeOverrides() {
  return importRules.flatMap((row) => {
    const levels = isFile(row.room) ? [0] : Array.from({ length: deepestLevel + 1 }, (_, level) => level);
    return levels.map((level) => ({
      includes: isFile(row.room)
        ? [`src/${row.room}`]
        : [`src/${row.room}/${"*/".repeat(level)}*.ts`, ...roomsIn(row.room).map(excluded)],
      linter: {
        rules: {
          style: {
            noRestrictedImports: {
              level: "error",
              options: { patterns: [{ group: patternsOf(row, level), message: messageOf(row) }] },
            },
          },
        },
      },
    }));
  });
}

const output = fileURLToPath(new URL("import-rules.biome.json", import.meta.url));

/** Whether the checked-in overrides match the table. */
export function overridesAreCurrent() {
  return JSON.stringify(JSON.parse(readFileSync(output, "utf8")).overrides) === JSON.stringify(biomeOverrides());
}

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  const lines = biomeOverrides().map((override) => `    ${JSON.stringify(override)}`);
  writeFileSync(output, `{\n  "overrides": [\n${lines.join(",\n")}\n  ]\n}\n`);
}
