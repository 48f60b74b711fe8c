import { parseSettings, type Setting } from "./git-settings.ts";

/**
 * The first address of each remote in a repository's settings, in order, read as git does but without included files.
 * `undefined` if git could not read them, or if they are implausible.
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

/** The remote of a setting, if any. */
function remoteOf({ section, sub }: Setting): string | undefined {
  if (sub !== undefined) return section === "remote" ? sub : undefined;
  return /^remote\.(.+)$/.exec(section)?.[1];
}
