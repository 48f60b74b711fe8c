import type { Composition } from "../../compose.ts";
import { compose } from "../../compose.ts";
import { printable } from "../../config/check/visible.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";

type Inspector = Awaited<ReturnType<Composition["inspectModels"]>>;
type Overview = ReturnType<Inspector["overview"]>;
type Model = Overview["models"][number];

/** `tinman models`: lists usable models, and why the others cannot be used. */
export async function listModels(options: { readonly json?: boolean }, io: Io): Promise<number> {
  const { models, defaultModel, modelOverride, inspectModels } = await compose();
  const inspector = await inspectModels();
  const status = inspector.status(defaultModel);
  // An unknown default is an error, because it would fail every run. An unusable one is listed.
  const { info } = status?.problem === undefined ? await models.resolve(defaultModel) : status;
  const overview = inspector.overview(info);
  if (options.json === true) {
    await io.stdout.write(`${JSON.stringify(jsonOf(overview))}\n`);
    for (const { name, problem } of lost(overview))
      await io.stderr.write(`tinman: ${printable(`${name} ${problem}`)}\n`);
  } else await io.stdout.write(textOf(overview, modelOverride));
  return exitCodes.success;
}

function jsonOf({ models, aliases }: Overview): readonly object[] {
  return models.map(({ info, address, key, problem }, index) => ({
    ...info,
    isDefault: index === 0,
    usable: problem === undefined,
    address: address ?? null,
    key: key ?? null,
    aliases: aliases.filter(({ leadsTo }) => leadsTo === info.id).map(({ name }) => name),
    ...(problem === undefined ? {} : { problem }),
  }));
}

/** Configured names without a usable model. */
function lost({
  aliases,
  fallback,
  fallbacks,
}: Overview): readonly { readonly name: string; readonly problem: string }[] {
  const names = [
    ...aliases.map((one) => ({ ...one, name: `alias ${one.name}` })),
    ...(fallback === undefined ? [] : [fallback]),
    ...fallbacks,
  ];
  return names.flatMap(({ name, leadsTo, problem }) =>
    problem === undefined ? [] : [{ name, problem: `(${leadsTo}): ${problem}` }],
  );
}

function textOf(overview: Overview, override: string | undefined): string {
  const { models, providers, aliases, fallback, fallbacks } = overview;
  const mark = (model: Model): string => (model === models[0] ? "*" : " ");
  const usable = models
    .filter(({ problem }) => problem === undefined)
    .map((model) => {
      const { id, provider, contextWindow } = model.info;
      return [mark(model), id, provider, `${contextWindow} tokens`, model.key ?? "no key"];
    });
  const open = providers
    .filter(({ key, isListed, isLocal }) => key !== undefined && !isListed && !isLocal)
    .map(({ id, key }) => [" ", `${id}/<model>`, id, "", key ?? ""]);
  const names = aliases
    .filter(({ problem }) => problem === undefined)
    .map(({ name, leadsTo }) => [" ", name, `means ${leadsTo}`]);
  const second = fallback?.problem === undefined && fallback !== undefined ? fallback.leadsTo : undefined;
  const standIns = fallbacks.flatMap(({ leadsTo, problem }) => (problem === undefined ? [leadsTo] : []));
  const unusable = [
    ...models
      .filter((model) => model.problem !== undefined && (model.from === "configuration" || model === models[0]))
      .map((model) => [mark(model), model.info.id, model.problem ?? ""]),
    ...lost(overview).map(({ name, problem }) => [" ", name, problem]),
    ...providers.flatMap(({ id, problem }) => (problem === undefined ? [] : [[" ", id, problem]])),
  ];
  const local = providers.filter(({ isLocal }) => isLocal).map(({ id }) => `${id}/<model>`);
  const parts = [
    table([...usable, ...open]),
    names.length === 0 ? "" : `Other names:\n${table(names)}`,
    second === undefined ? "" : `Unknown models are replaced by ${printable(second)}.\n`,
    standIns.length === 0 ? "" : `Fallbacks while a model is unavailable: ${printable(standIns.join(", "))}.\n`,
    unusable.length === 0 ? "" : `Not usable:\n${table(unusable)}`,
    `Local servers: ${local.join(", ")}.\ntinman models --discover lists their models.\n`,
    override === undefined ? hint : `* is used by every run, because TINMAN_MODEL is set.\n`,
  ];
  return parts.filter((part) => part !== "").join("\n");
}

const hint = `* is the default. <provider>/<model> names any other model of a provider, script:<file> a scripted one.
TINMAN_MODEL overrides every choice.
`;

const widestColumn = 40;

/** Aligned columns; the last one has no width limit. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(printable));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.min(widestColumn, Math.max(...cells.map((row) => row[column]?.length ?? 0))),
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  return cells.map((row) => `${line(row).replace("  ", " ").trimEnd()}\n`).join("");
}
