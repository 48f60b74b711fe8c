const programSections = /\[\s*(filter|includeif|include|diff|merge|gpg|credential|protocol|trailer|pager|hook)\b/i;
const programKeys =
  /\b(sshcommand|gitproxy|askpass|pager|editor|uploadpack|receivepack|showsignature|textconv|external|driver|program|command|cmd|helper|process|clean|smudge|mergeoptions|alternaterefscommand|virtualfilesystem|vcs|difffilter|\w+hook)\s*=/i;
const fsmonitorValues = /\bfsmonitor\s*=\s*(\S*)/gi;

/** Placeholders and sort keys that make git check signatures, ignoring quotes and backslashes. */
const signatureFormat = /%[-+ ]*G|%\(\*?signature|\bsort\s*=\s*\S*signature/i;

/**
 * Whether a repository's settings could make git start programs of its choice, even with hooks, file-system monitor and
 * fetching switched off. When in doubt, true.
 */
export function configRunsPrograms(config: string): boolean {
  if (programSections.test(config) || programKeys.test(config)) return true;
  // A submodule's update method, or a command after an exclamation mark.
  if (
    settingsOf(config, "update").some((rest) => !/^[ \t]*=[ \t]*"?(checkout|rebase|merge|none)"?[ \t\r]*$/.test(rest))
  ) {
    return true;
  }
  if (signatureFormat.test(config.replace(/\\\r?\n/g, "").replace(/["\\]/g, ""))) return true;
  return Array.from(config.matchAll(fsmonitorValues)).some(
    ([, value = ""]) => !/^(true|false|yes|no|on|off|0|1|)$/i.test(value),
  );
}

/** The text after a setting's name, for each line that sets it. */
function settingsOf(config: string, name: string): readonly string[] {
  const lines = config.matchAll(new RegExp(`(?:^|\\])\\s*(?:${name})(?![\\w-])([^\\n]*)`, "gim"));
  return Array.from(lines, ([, rest = ""]) => rest);
}

/** The same with nothing switched off. A partial clone fetches missing objects as its settings say. */
export function configRunsProgramsUnhindered(config: string): boolean {
  if (configRunsPrograms(config) || settingsOf(config, "promisor|partialclone").length > 0) return true;
  return settingsOf(config, "fsmonitor").some((rest) => !/^[ \t]*=[ \t]*"?(false|no|off|0)"?[ \t\r]*$/i.test(rest));
}

/** The values of a setting, by its name without the section. `undefined` if one is written in an unusual way. */
export function plainValues(config: string, name: string): readonly string[] | undefined {
  const values = settingsOf(config, name).map((rest) =>
    /^[ \t]*=[ \t]*(?:"([^"\\]+)"|([^"\\;#]*[^"\\;#\s]))[ \t\r]*$/.exec(rest),
  );
  const plain = values.flatMap((match) => match?.[1] ?? match?.[2] ?? []);
  return plain.length === values.length ? plain : undefined;
}

/** The hook folders that settings name, however they are written. When in doubt, includes too many. */
export function namedHookFolders(config: string): readonly string[] {
  const values = settingsOf(config.replace(/\\\r?\n/g, ""), "hookspath").flatMap((rest) => {
    const value = /^\s*=(.*)$/.exec(rest.replace(/\r/g, ""))?.[1] ?? "";
    return [value, value.replace(/[;#].*$/, "")].map((text) => text.replace(/["\\]/g, "").trim());
  });
  return [...new Set(values)].filter((value) => value !== "" && !value.includes("\0"));
}
