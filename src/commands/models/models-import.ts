import { join } from "node:path";
import { compose } from "../../compose.ts";
import type { ModelEntryConfig } from "../../config/check/checked-config.ts";
import { printable } from "../../config/check/visible.ts";
import { yamlText } from "../../config/check/yaml-text.ts";
import { withModels, writeConfig } from "../../config/models/add-models.ts";
import { readFactoryModels } from "../../config/models/factory-models.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";

/** `tinman models import`: shows another program's custom models as configuration, or with `--write` adds them. */
export async function importModels(
  options: { readonly from?: string; readonly write?: boolean },
  io: Io,
): Promise<number> {
  const { homes, config, inspectModels } = await compose();
  const from = options.from ?? join(homes.user, ".factory", "settings.json");
  const [{ entries, notes }, inspector] = await Promise.all([readFactoryModels(from), inspectModels()]);
  const note = (text: string): Promise<void> => io.stderr.write(`tinman: ${printable(text)}\n`);
  for (const text of notes) await note(text);

  const fresh: ModelEntryConfig[] = [];
  for (const entry of entries) {
    const problem = problemWith(entry, config.models?.entries ?? [], inspector.faultIn);
    if (problem === undefined) fresh.push(entry);
    else await note(problem);
  }
  if (fresh.length === 0) {
    await io.stdout.write(`${printable(from)} has no models to add.\n`);
    return exitCodes.success;
  }
  const isFree = (name: string): boolean => inspector.status(name) === undefined;
  const addition = { entries: fresh, aliases: aliasesOf(fresh, config.models?.aliases ?? {}, isFree) };
  const changed = await withModels(homes.own, addition);
  const path = printable(changed.path);
  if (options.write === true) {
    await writeConfig(changed);
    await io.stdout.write(`Added to ${path}:\n${fresh.map(({ id }) => `  ${printable(id)}\n`).join("")}`);
    return exitCodes.success;
  }
  const { aliases } = addition;
  const shown = { ...(Object.keys(aliases).length > 0 ? { aliases } : {}), entries: fresh.map(withoutSecrets) };
  const lines = (await yamlText({ models: shown })).trimEnd().split("\n");
  await io.stdout.write(lines.map((line) => `${printable(line)}\n`).join(""));
  await io.stderr.write(`tinman: Nothing was written. --write adds this to ${path}, including keys.\n`);
  return exitCodes.success;
}

function problemWith(
  entry: ModelEntryConfig,
  there: readonly ModelEntryConfig[],
  faultIn: (entry: ModelEntryConfig) => string | undefined,
): string | undefined {
  if (there.some(({ id }) => id === entry.id))
    return `"${entry.id}" is already in the configuration and stays unchanged.`;
  const fault = faultIn(entry);
  return fault === undefined ? undefined : `Skipped "${entry.id}": ${fault}.`;
}

/** Adds the plain model name as an alias, unless it has another meaning. */
function aliasesOf(
  entries: readonly ModelEntryConfig[],
  there: Readonly<Record<string, string>>,
  isFree: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const aliases: Record<string, string> = Object.create(null) as Record<string, string>;
  const taken = new Set([...Object.keys(there), ...entries.map(({ id }) => id)]);
  for (const { id, model } of entries) {
    if (model === undefined || taken.has(model) || !isFree(model)) continue;
    taken.add(model);
    aliases[model] = id;
  }
  return aliases;
}

const hidden = "[hidden]";

/** For a terminal. Names of variables are not secret. */
function withoutSecrets(entry: ModelEntryConfig): ModelEntryConfig {
  const shown = (text: string): string => (/^(?:[A-Za-z]+ )?\$\{\w+\}$/.test(text) ? text : hidden);
  const { apiKey, headers, baseUrl } = entry;
  return {
    ...entry,
    ...(baseUrl === undefined || /^[a-z]+:\/\/[^@?#]+$/i.test(baseUrl) ? {} : { baseUrl: hidden }),
    ...(apiKey === undefined ? {} : { apiKey: shown(apiKey) }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, shown(text)])) }),
  };
}
