import { parseSettings, type Setting } from "./git-settings.ts";

/**
 * The first address of every remote in a repository's settings, by name and in their order, read as git reads them but for
 * files that they include. `undefined` when git would not read them either, or when nobody writes settings like these.
 */
export function remoteAddresses(config: string): ReadonlyMap<string, string> | undefined {
  const settings = /[^\P{Cc}\r\n\t]|\r(?!\n)|\uFFFD/u.test(config) ? undefined : parseSettings(config);
  if (settings === undefined) return undefined;
  const addresses = new Map<string, string>();
  for (const setting of settings) {
    const remote = setting.key === "url" ? remoteOf(setting) : undefined;
    if (remote === undefined || !setting.value || addresses.has(remote)) continue;
    addresses.set(remote, setting.value);
  }
  return addresses;
}

/** The remote that a setting is about, if it is about one. */
function remoteOf({ section, sub }: Setting): string | undefined {
  if (sub !== undefined) return section === "remote" ? sub : undefined;
  return /^remote\.(.+)$/.exec(section)?.[1];
}
