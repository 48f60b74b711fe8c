import { compose } from "../compose.ts";
import { exitCodes } from "../frontends/exit-codes.ts";
import type { Io } from "../frontends/front-end.ts";

export async function listModels(options: { readonly json?: boolean }, io: Io): Promise<number> {
  const { models, defaultModel } = await compose();
  const known = models.list();
  // A default that does not exist would fail every run; the list alone would hide it.
  await models.resolve(defaultModel);
  if (options.json === true) {
    await io.stdout.write(`${JSON.stringify(known.map((model, index) => ({ ...model, isDefault: index === 0 })))}\n`);
    return exitCodes.success;
  }
  const rows = known.map((model, index) => {
    const mark = index === 0 ? "*" : " ";
    return `${mark} ${model.id.padEnd(24)} ${model.provider.padEnd(10)} ${model.contextWindow} tokens  ${model.displayName}\n`;
  });
  const hint =
    "\n* is used when a run names none. script:<file> runs a scripted model; TINMAN_MODEL overrides every choice.\n";
  await io.stdout.write(`${rows.join("")}${hint}`);
  return exitCodes.success;
}
