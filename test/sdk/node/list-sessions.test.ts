import { execFileSync } from "node:child_process";
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ListSessionsOptions, listSessions } from "../../../src/sdk/node/list-sessions.ts";
import { createJsonlStore } from "../../../src/store/jsonl-store.ts";
import { createBench } from "../../e2e/tinman.ts";
import { isFullRun } from "../../full-run.ts";
import { opened, titled } from "../../store/sample-events.ts";
import { tempHome } from "../../store/temp-home.ts";

afterEach(() => vi.unstubAllEnvs());

async function ids(options: ListSessionsOptions): Promise<readonly string[]> {
  return (await listSessions(options)).map(({ id }) => id);
}

/** A log of Tinman's, changed at this second. */
async function store(home: string, id: string, second: number, cwd = "/home/me/project", title = ""): Promise<string> {
  const logs = createJsonlStore({ home });
  const log = await logs.create(opened(id, cwd));
  if (title !== "") await log.append([titled(id, 2, title)]);
  await log.release();
  const { path } = await logs.info(id);
  await utimes(path, second, second);
  return path;
}

const message = `${JSON.stringify({ type: "message", id: "m", message: { role: "user", content: [] } })}\n`;

/** A log of droid's with this first line. */
async function droidLog(path: string, start: object | string, second: number, settings?: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const line = typeof start === "string" ? start : JSON.stringify({ type: "session_start", version: 2, ...start });
  await writeFile(path, `${line}\n${message}`);
  await utimes(path, second, second);
  if (settings !== undefined) await writeFile(path.replace(/jsonl$/, "settings.json"), settings);
  return path;
}

/** All names below a folder, with whatever changes on a write. */
async function written(folder: string): Promise<readonly unknown[]> {
  const names = ["", ...(await readdir(folder, { recursive: true }))].sort();
  return Promise.all(
    names.map(async (name) => {
      const { mtimeNs, ctimeNs, size } = await stat(join(folder, name), { bigint: true });
      return { name, mtimeNs, ctimeNs, size };
    }),
  );
}

describe("Tinman's sessions", () => {
  it("match `tinman sessions list --json`", async () => {
    const bench = await createBench();
    const home = join(bench.home, ".tinman");
    const other = join(bench.root, "other");
    await mkdir(other);
    await symlink(other, join(bench.root, "linked"));
    for (const [prompt, cwd] of [
      ["Just reply OK.", bench.cwd],
      ['Just reply "OK again, at length é 只回复"', other],
      ["run ls command", bench.cwd],
    ] as const) {
      expect(await bench.tinman(["exec", prompt], { cwd })).toMatchObject({ code: 0 });
    }
    const told = async (...args: readonly string[]) => {
      const listed = JSON.parse((await bench.tinman(["sessions", "list", "--json", ...args])).stdout);
      return listed.map(({ bytes, ...info }: { bytes: number }) => ({ ...info, backend: "tinman" }));
    };
    const [renamed, torn, plain] = await listSessions({ home });
    if (!renamed || !torn || !plain) throw new Error("There are not three sessions.");
    const start = (await readFile(plain.path, "utf8")).split("\n")[0] ?? "";
    const long = { seq: 900, at: 1, type: "prompt.accepted", messageId: "m", content: [{ type: "text", text: "" }] };
    const filler = `${JSON.stringify({ ...long, content: [{ type: "text", text: "x".repeat(9_000) }] })}\n`.repeat(600);
    const title = (words: string) => `${JSON.stringify({ seq: 901, at: 1, type: "session.titled", title: words })}\n`;
    // Far from both ends of a log that needs several reads.
    await appendFile(renamed.path, `${title("A middle")}${filler}`);
    await appendFile(torn.path, title("Whole") + title("Torn").slice(0, -9));
    for (const [name, line] of [
      ["later", start.replace('"version":1', '"version":2')],
      ["damaged", start.slice(0, -1)],
      ["odd-settings", start.replace('"autonomy":"', '"autonomy":"very ')],
      ["relative", start.replace('"cwd":"/', '"cwd":"')],
    ] as const) {
      expect(line).not.toBe(start);
      await writeFile(join(dirname(plain.path), `${name}.jsonl`), `${line}\n`);
    }

    const all = await told();
    expect(all.map((info: { title: string }) => info.title).sort()).toEqual([
      "A middle",
      expect.stringContaining("Just reply OK."),
      "Whole",
    ]);
    expect(await listSessions({ home })).toEqual(all);
    expect(await listSessions({ home, limit: 2 })).toEqual(await told("--limit", "2"));
    const linked = join(bench.root, "linked");
    expect(await listSessions({ home, cwd: linked })).toEqual(await told("--cwd", linked));
    expect((await listSessions({ home, cwd: linked })).map(({ cwd }) => cwd)).toEqual([other]);
    await bench.remove();
  });

  it("are found where the program stores them by default", async () => {
    const user = await tempHome();
    const named = await tempHome();
    await store(join(user, ".tinman"), "in-the-users-home", 1);
    await store(named, "in-a-home-of-its-own", 1);
    await droidLog(join(user, ".factory/sessions/-p/of-droid.jsonl"), {}, 2);
    vi.stubEnv("HOME", user);
    vi.stubEnv("TINMAN_HOME", undefined);
    expect(await ids({})).toEqual(["in-the-users-home"]);
    expect(await ids({ droid: false })).toEqual(["in-the-users-home"]);
    vi.stubEnv("TINMAN_HOME", named);
    expect(await ids({ droid: true })).toEqual(["of-droid", "in-a-home-of-its-own"]);
    expect(await ids({ home: join(user, ".tinman") })).toEqual(["in-the-users-home"]);
  });
});

describe("droid's sessions", () => {
  it("have the data of their first line", async () => {
    const droid = await tempHome();
    const start = { id: "other", title: "The first words", owner: "unknown", cwd: "/p" };
    const settings = JSON.stringify({ model: "m", archivedAt: null }, null, 2);
    const path = await droidLog(join(droid, "-p/whole.jsonl"), { ...start, sessionTitle: "Made" }, 40, settings);
    await droidLog(join(droid, "-p/untitled.jsonl"), { ...start, sessionTitle: "" }, 30);
    await droidLog(join(droid, "-p/bare.jsonl"), { title: 5, sessionTitle: {}, cwd: ["/p"] }, 20);
    await droidLog(join(droid, "legacy.jsonl"), { title: "x".repeat(100_000) }, 10);
    const before = await written(droid);
    const { birthtimeMs, ctimeMs } = await stat(path);
    const told = await listSessions({ home: join(droid, "none"), droid });
    const rest = { createdAt: expect.any(Number), backend: "droid" };
    expect(told).toEqual([
      {
        id: "whole",
        title: "Made",
        cwd: "/p",
        createdAt: Math.floor(birthtimeMs || ctimeMs),
        updatedAt: 40_000,
        path,
        backend: "droid",
      },
      {
        ...rest,
        id: "untitled",
        title: "The first words",
        cwd: "/p",
        updatedAt: 30_000,
        path: join(droid, "-p/untitled.jsonl"),
      },
      { ...rest, id: "bare", title: "", updatedAt: 20_000, path: join(droid, "-p/bare.jsonl") },
      { ...rest, id: "legacy", title: "x".repeat(100_000), updatedAt: 10_000, path: join(droid, "legacy.jsonl") },
    ]);
    expect(await written(droid)).toEqual(before);
  });

  it("are skipped if hidden, or of a sub-agent", async () => {
    const droid = await tempHome();
    await droidLog(join(droid, "-p/archived.jsonl"), {}, 1, '{\n  "archivedAt": "2026-01-01T00:00:00Z"\n}');
    await droidLog(join(droid, "-p/sub-agent.jsonl"), { callingSessionId: "seen", callingToolUseId: "t" }, 1);
    await droidLog(join(droid, "-p/seen.jsonl"), { callingSessionId: null }, 5, '{ "archivedAt": "" }');
    await droidLog(join(droid, "-p/torn.jsonl"), {}, 4, '{ "archivedAt": "2026');
    await droidLog(join(droid, "-p/a-list.jsonl"), {}, 3, "[1]");
    await droidLog(join(droid, "-p/large.jsonl"), {}, 2, `{ "archivedAt": 1, "x": "${"x".repeat(1024 * 1024)}" }`);
    expect(await ids({ home: droid, droid })).toEqual(["seen", "torn", "a-list", "large"]);
  });

  it("are listed once per id: the newest readable one", async () => {
    const droid = await tempHome();
    const paths = [
      await droidLog(join(droid, "-a/twice.jsonl"), { title: "new" }, 9),
      await droidLog(join(droid, "-b/repaired.jsonl"), { title: "old" }, 2),
    ];
    await droidLog(join(droid, "-b/twice.jsonl"), { title: "old" }, 8);
    await droidLog(join(droid, "-a/repaired.jsonl"), "{torn", 7);
    await droidLog(join(droid, "-a/hidden.jsonl"), {}, 6, '{"archivedAt":1}');
    await droidLog(join(droid, "-b/hidden.jsonl"), {}, 5);
    const told = await listSessions({ home: droid, droid });
    expect(told.map(({ path }) => path)).toEqual(paths);
  });

  it("can be limited to one working directory, by its real path", async () => {
    const root = await realpath(await tempHome());
    const [droid, real, linked] = [join(root, "sessions"), join(root, "wo.rk_1-a"), join(root, "linked")];
    await mkdir(real);
    await symlink(real, linked);
    const folder = join(droid, `-${real.slice(1).replaceAll("/", "-")}`);
    await droidLog(join(folder, "inside.jsonl"), { cwd: real }, 9);
    await droidLog(join(folder, "through-a-link.jsonl"), { cwd: linked }, 8);
    await droidLog(join(folder, "silent.jsonl"), {}, 7);
    await droidLog(join(folder, "same-folder-name.jsonl"), { cwd: join(root, "wo.rk_1/a") }, 6);
    await droidLog(join(droid, "-elsewhere/elsewhere.jsonl"), { cwd: "/elsewhere" }, 5);
    await droidLog(join(droid, "legacy.jsonl"), { cwd: real }, 4);
    await droidLog(join(droid, "legacy-elsewhere.jsonl"), { cwd: "/elsewhere" }, 3);
    await droidLog(join(droid, "legacy-silent.jsonl"), {}, 2);
    await store(join(root, "home"), "tinmans", 1, real);
    await store(join(root, "home"), "tinmans-elsewhere", 1, "/elsewhere");
    const expected = ["inside", "through-a-link", "silent", "legacy", "tinmans"];
    for (const cwd of [real, `${real}/`, linked])
      expect(await ids({ home: join(root, "home"), droid, cwd })).toEqual(expected);
    // The sessions of a deleted working directory still exist.
    const gone = await ids({ home: join(root, "home"), droid, cwd: "/elsewhere/" });
    expect(gone).toEqual(["elsewhere", "legacy-elsewhere", "tinmans-elsewhere"]);
    expect(await ids({ home: join(root, "home"), droid, cwd: "/nowhere" })).toEqual([]);
  });
});

describe("all sessions", () => {
  it("come newest first, from both programs, up to the limit", async () => {
    const home = await tempHome();
    const droid = join(home, "droid");
    for (const second of [1, 4, 5]) await store(home, `tinman-${second}`, second);
    for (const second of [2, 3, 6]) await droidLog(join(droid, `-p/droid-${second}.jsonl`), {}, second);
    const all = ["droid-6", "tinman-5", "tinman-4", "droid-3", "droid-2", "tinman-1"];
    expect(await ids({ home, droid })).toEqual(all);
    for (const limit of [1, 2, 4, 6, 7]) expect(await ids({ home, droid, limit })).toEqual(all.slice(0, limit));
  });

  it("are all listed if there are many", async () => {
    const home = await tempHome();
    const count = isFullRun ? 10_000 : 300;
    const path = await store(home, "first", 0);
    const start = await readFile(path, "utf8");
    const expected: string[] = ["first"];
    for (let second = 1; second <= count; second += 1) {
      const own = join(dirname(path), `t${second}.jsonl`);
      await writeFile(own, start);
      await utimes(own, 2 * second, 2 * second);
      await droidLog(join(home, `droid/-p${second % 50}/d${second}.jsonl`), {}, 2 * second + 1, "{}");
      expected.unshift(`d${second}`, `t${second}`);
    }
    expect(await ids({ home, droid: join(home, "droid") })).toEqual(expected);
  }, 300_000);

  it("are empty if there is nothing", async () => {
    const home = await tempHome();
    await writeFile(join(home, "file"), "");
    await symlink("circle", join(home, "circle"));
    await mkdir(join(home, "with-circle"));
    await symlink("sessions", join(home, "with-circle/sessions"));
    const before = await readdir(home, { recursive: true });
    for (const name of ["missing", "file", "file/below", "circle", "with-circle", "x".repeat(5_000)]) {
      expect(await listSessions({ home: join(home, name), droid: join(home, name) })).toEqual([]);
    }
    expect(await readdir(home, { recursive: true })).toEqual(before);
  });

  it("are listed among other files", async () => {
    const home = await tempHome();
    const droid = join(home, "droid");
    const path = await store(home, "good", 2);
    const outside = await droidLog(join(home, "outside.jsonl"), { title: "outside" }, 9);
    await droidLog(join(droid, "-p/good.jsonl"), {}, 1);
    execFileSync("mkfifo", [join(droid, "-p/good.settings.json")]);
    for (const folder of [dirname(path), join(droid, "-p"), droid]) {
      const at = (name: string) => join(folder, name);
      await mkdir(at("folder.jsonl"));
      execFileSync("mkfifo", [at("pipe.jsonl")]);
      await symlink(folder === dirname(path) ? path : outside, at("link.jsonl"));
      await symlink("/dev/zero", at("zeros.jsonl"));
      await symlink("nowhere", at("dangling.jsonl"));
      await writeFile(at("empty.jsonl"), "");
      await writeFile(at("blank.jsonl"), "\n\n");
      await writeFile(at("list.jsonl"), "[]\nnull\n");
      await writeFile(at("nested.jsonl"), "[".repeat(1_000_000));
      await writeFile(at("binary.jsonl"), Buffer.from(Array.from({ length: 4_096 }, (_, index) => index % 256)));
      await writeFile(at("half-a-character.jsonl"), Buffer.from('{"type":"session_start","title":"\xe9"}\n', "latin1"));
      await writeFile(at("huge.jsonl"), '{"type":"session_start","title":"');
      await truncate(at("huge.jsonl"), 100 * 1024 * 1024);
      for (const name of ["-dash.jsonl", "a b.jsonl", "a..b.jsonl", "é.jsonl", ".jsonl", "good.jsonl.bak", "good.json"])
        await writeFile(at(name), await readFile(folder === dirname(path) ? path : outside));
    }
    // Neither a folder elsewhere nor one with another kind of name.
    await mkdir(join(home, "elsewhere"));
    await droidLog(join(home, "elsewhere/linked-folder.jsonl"), {}, 8);
    await symlink(join(home, "elsewhere"), join(droid, "-linked"));
    await droidLog(join(droid, "good/attachments.jsonl"), {}, 8);
    const told = await listSessions({ home, droid });
    expect(told.map(({ id, backend }) => [id, backend])).toEqual([
      ["good", "tinman"],
      ["good", "droid"],
    ]);
  });

  it("can disappear during the listing", async () => {
    const home = await tempHome();
    const droid = join(home, "droid");
    const path = await store(home, "stays", 1);
    const start = await readFile(path);
    const going: string[] = [];
    for (let index = 0; index < 100; index += 1) {
      going.push(join(dirname(path), `t${index}.jsonl`), join(droid, `-p/d${index}.jsonl`));
      await writeFile(join(dirname(path), `t${index}.jsonl`), start);
      await droidLog(join(droid, `-p/d${index}.jsonl`), {}, 2);
    }
    const listings = [listSessions({ home, droid }), listSessions({ home, droid })];
    for (const each of going) await rm(each);
    for (const told of await Promise.all(listings)) expect(told.map(({ id }) => id)).toContain("stays");
    expect(await ids({ home, droid })).toEqual(["stays"]);
  });
});

describe("the call", () => {
  it.each([
    [{ cwd: 5 }, "The option cwd of listSessions must be a path."],
    [{ cwd: "" }, "The option cwd of listSessions must be a path."],
    [{ cwd: "/a\0b" }, "The option cwd of listSessions must be a path."],
    [{ home: null }, "The option home of listSessions must be a path."],
    [{ home: new URL("file:///x") }, "The option home of listSessions must be a path."],
    [{ droid: 1 }, "The option droid of listSessions must be true, false or a path."],
    [{ droid: "" }, "The option droid of listSessions must be true, false or a path."],
    [{ limit: "5" }, "The option limit of listSessions must be a whole number of at least 1."],
    [{ limit: 0 }, "The option limit of listSessions must be a whole number of at least 1."],
    [{ limit: 1.5 }, "The option limit of listSessions must be a whole number of at least 1."],
    [{ limit: Number.NaN }, "The option limit of listSessions must be a whole number of at least 1."],
    [{ signal: {} }, "The option signal of listSessions must be an AbortSignal."],
    [null, "The options of listSessions must be an object."],
    ["/home/me", "The options of listSessions must be an object."],
    [[], "The options of listSessions must be an object."],
  ])("rejects %j", async (options, words) => {
    const call = listSessions(options as ListSessionsOptions);
    await expect(call).rejects.toEqual(new TypeError(words));
  });

  it("treats undefined options as absent", async () => {
    const home = await tempHome();
    await store(home, "s1", 1);
    const absent: object = { cwd: undefined, limit: undefined, droid: undefined, signal: undefined };
    expect(await ids({ home, ...absent })).toEqual(["s1"]);
  });

  it("ends with its signal's reason, before it begins and on the way", async () => {
    const home = await tempHome();
    const droid = join(home, "droid");
    for (let index = 0; index < 40; index += 1) await droidLog(join(droid, `-p/d${index}.jsonl`), {}, 1);
    const reason = new Error("enough");
    await expect(listSessions({ home, droid, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const leaver = new AbortController();
    const call = listSessions({ home, droid, signal: leaver.signal });
    leaver.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(await ids({ home, droid, signal: new AbortController().signal })).toHaveLength(40);
  });
});
