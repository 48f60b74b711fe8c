import { mkdir, realpath, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { engineBackend } from "../../../src/commands/wires/acp-backends.ts";
import type { Io } from "../../../src/frontends/front-end.ts";
import { createJsonlStore } from "../../../src/store/jsonl-store.ts";
import { opened, titled } from "../../store/sample-events.ts";
import { tempHome } from "../../store/temp-home.ts";

const silent = { isTerminal: false, columns: 80, write: async () => undefined, gone: new AbortController().signal };
const io: Io = { stdout: silent, stderr: silent, onSignal: () => () => undefined };

afterEach(() => {
  vi.unstubAllEnvs();
});

async function backend() {
  const home = await realpath(await tempHome());
  vi.stubEnv("TINMAN_HOME", home);
  return { home, own: engineBackend({ logLevel: "off" } as never, io) };
}

test("the engine lists its sessions for editors, filtered by any name of a folder", async () => {
  const { home, own } = await backend();
  const [here, link] = [join(home, "here"), join(home, "link")];
  await mkdir(here);
  await symlink(here, link);
  const store = createJsonlStore({ home });
  for (const [id, cwd] of [["s1", here] as const, ["s2", "/elsewhere"] as const]) {
    const log = await store.create(opened(id, cwd));
    await log.append([titled(id, 2, `Of ${id}`)]);
    await log.release();
  }
  const shown = async (query: { readonly cwd?: string }) =>
    ((await own.list?.(query)) ?? [])
      .map(({ id, title, cwd }) => ({ id, title, cwd }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const first = { id: "s1", title: "Of s1", cwd: here };
  expect(await shown({})).toEqual([first, { id: "s2", title: "Of s2", cwd: "/elsewhere" }]);
  expect([await shown({ cwd: here }), await shown({ cwd: link })]).toEqual([[first], [first]]);
  await own.close();
});

test("an unreadable list is an error instead of an empty list", async () => {
  const { home, own } = await backend();
  expect(await own.list?.({})).toEqual([]);
  // A link to itself is unreadable for every user.
  await symlink("sessions", join(home, "sessions"));
  await expect(own.list?.({})).rejects.toMatchObject({ code: "storage_failed" });
  await own.close();
});
