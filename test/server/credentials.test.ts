import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadUserConfig } from "../../src/config/load.ts";
import { serveSettings } from "../../src/config/serve/serve-settings.ts";
import { watchCredentials } from "../../src/server/credentials.ts";
import { hashOf } from "../../src/server/token-file.ts";
import { newHome } from "./served.ts";

async function watched() {
  const home = await newHome();
  const file = join(home, "config.yaml");
  const users = [{ name: "ann", role: "user", tokens: [hashOf("one")] }];
  const save = (): Promise<void> => writeFile(file, JSON.stringify({ serve: { users } }));
  await save();
  const say = (): void => undefined;
  const revoked: string[] = [];
  const hooks = { beforeRead: async (): Promise<void> => undefined };
  const credentials = await watchCredentials({
    tokenFile: join(home, "serve-token"),
    users: {
      file,
      load: async () => {
        await hooks.beforeRead();
        return serveSettings(await loadUserConfig(home, { file })).users;
      },
    },
    log: { error: say, warn: say, info: say, debug: say },
    // Only on demand.
    everyMs: 3_600_000,
    onRevoked: ({ identity }) => void revoked.push(identity.user),
  });
  onTestFinished(() => credentials.stop());
  return { ...credentials, file, save, revoked, hooks };
}

test.each([
  ["gone", (file: string) => rm(file)],
  ["empty", (file: string) => writeFile(file, "")],
])("a configuration that is %s for a moment while being saved revokes no one", async (_, spoil) => {
  const { look, find, file, save, revoked } = await watched();
  for (let nth = 0; nth < 3; nth += 1) {
    await spoil(file);
    await look();
    await save();
    await look();
  }
  expect([revoked, find("one")?.identity.user]).toEqual([[], "ann"]);
  await spoil(file);
  await look();
  await look();
  expect([revoked, find("one")]).toEqual([["ann"], undefined]);
});

test("a configuration emptied between check and read while being saved revokes no one", async () => {
  const { look, find, file, save, revoked, hooks } = await watched();
  hooks.beforeRead = () => writeFile(file, "");
  await save();
  await look();
  hooks.beforeRead = async () => undefined;
  await save();
  await look();
  expect([revoked, find("one")?.identity.user]).toEqual([[], "ann"]);
});
