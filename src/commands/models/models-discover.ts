import { join } from "node:path";
import type { Composition } from "../../compose.ts";
import { compose } from "../../compose.ts";
import { printable } from "../../config/check/visible.ts";
import { yamlText } from "../../config/check/yaml-text.ts";
import { exitCodes, type HandledSignal, signalCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";

type Inspector = Awaited<ReturnType<Composition["inspectModels"]>>;
type Server = Awaited<ReturnType<Inspector["discover"]>>[number];

/** `tinman models --discover`: queries the usual servers on this machine. Writes no configuration. */
export async function discoverModels(options: { readonly json?: boolean }, io: Io): Promise<number> {
  const { homes, inspectModels } = await compose();
  const inspector = await inspectModels();
  const stopping = new AbortController();
  let stoppedBy: HandledSignal | undefined;
  const ignoreSignals = io.onSignal((signal) => {
    stoppedBy = signal;
    stopping.abort();
  });
  const servers = await inspector.discover(stopping.signal).finally(ignoreSignals);
  if (stoppedBy !== undefined) return signalCodes[stoppedBy];
  await io.stdout.write(
    options.json === true ? `${JSON.stringify(servers.map(jsonOf))}\n` : servers.map(linesOf).join(""),
  );
  const first = servers.find(({ models }) => models.length > 0);
  if (options.json !== true) await io.stdout.write(`\n${await adviceOf(first, join(homes.own, "config.yaml"))}`);
  return exitCodes.success;
}

function jsonOf({ models, isElsewhere: _, ...server }: Server): object {
  return { ...server, models: models.map((model) => ({ id: `${server.provider}/${model.name}`, ...model })) };
}

function linesOf({ provider, name, address, models, problem }: Server): string {
  const head = `${name} at ${address}: `;
  if (models.length === 0) return `${printable(head + (problem ?? ""))}\n`;
  const ids = models.map(({ name: model, contextWindow }) => {
    return `  ${provider}/${model}${contextWindow === undefined ? "" : `  ${contextWindow} tokens`}`;
  });
  const count = models.length === 1 ? "1 model" : `${models.length} models`;
  return `${printable(`${head}${count}`)}\n${ids.map((line) => `${printable(line)}\n`).join("")}`;
}

async function adviceOf(server: Server | undefined, path: string): Promise<string> {
  const model = server?.models[0];
  if (server === undefined || model === undefined) return "No models found on this machine.\n";
  const id = `${server.provider}/${model.name}`;
  const { contextWindow } = model;
  const entry = {
    id,
    provider: server.provider,
    model: model.name,
    ...(server.isElsewhere ? { baseUrl: server.address } : {}),
    ...(contextWindow ? { contextWindow } : {}),
  };
  const snippet = await yamlText({ models: { default: id, entries: [entry] } });
  const usable = server.isElsewhere ? "" : `${printable(`Use one directly: tinman exec -m ${id} "…"`)}\n`;
  return `${usable}To make one the default, add this to ${printable(path)}:\n\n${snippet}`;
}
