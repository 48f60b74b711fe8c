import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchCredentials } from "../../src/server/credentials.ts";
import { createLog } from "../../src/server/log.ts";
import { newToken, ownToken } from "../../src/server/token-file.ts";
import { newHome } from "./served.ts";

const onLinux = test.runIf(process.platform === "linux");

// That Linux file belongs to the process alone, and cannot be read from its start.
onLinux("a token file that cannot be read for a moment takes nothing back", async () => {
  const home = await newHome();
  const folder = join(home, "folder");
  const leadTo = async (target: string): Promise<void> => {
    await symlink(target, join(home, "new"));
    await rename(join(home, "new"), folder);
  };
  const token = newToken();
  await mkdir(join(home, "good"));
  await mkdir(join(home, "bad"));
  await writeFile(join(home, "good", "mem"), token, { mode: 0o600 });
  await writeFile(join(home, "bad", "mem"), token, { mode: 0o644 });
  await leadTo("good");

  const lines: Record<string, unknown>[] = [];
  const output = {
    isTerminal: false,
    columns: 80,
    gone: new AbortController().signal,
    write: async (text: string) => void lines.push(JSON.parse(text) as Record<string, unknown>),
  };
  const revoked: string[] = [];
  const tokenFile = join(folder, "mem");
  const credentials = await watchCredentials({
    tokenFile,
    users: { file: join(home, "config.yaml"), load: async () => [] },
    log: createLog(output, "info"),
    everyMs: 1e6,
    onRevoked: ({ identity }) => void revoked.push(identity.user),
  });
  onTestFinished(credentials.stop);

  const known = credentials.find(token);
  await leadTo("/proc/self");
  await credentials.look();
  await credentials.look();
  expect([credentials.find(token) === known, known?.identity.user, revoked]).toEqual([true, "local", []]);
  expect(lines).toMatchObject([
    { level: "warn", event: "token.unread", reason: `Cannot read ${tokenFile}: i/o error.` },
  ]);

  await leadTo("good");
  await credentials.look();
  expect([credentials.find(token) === known, revoked, lines.length]).toEqual([true, [], 1]);

  await leadTo("bad");
  await credentials.look();
  expect([credentials.find(token), revoked, lines.at(-2)?.event]).toEqual([undefined, ["local"], "token.unusable"]);
});

test.each([
  ["a file", "file", "file already exists"],
  ["below a file", "file/home", "not a directory"],
])("with a home that is %s, no token can be created, and one line says so", async (_, home, why) => {
  const folder = await newHome();
  await writeFile(join(folder, "file"), "");
  const path = join(folder, home, "serve-token");
  await expect(ownToken(path)).rejects.toMatchObject({
    code: "storage_failed",
    message: `Cannot create ${path}: ${why}.`,
  });
});
