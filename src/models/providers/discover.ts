import { fieldsOf, isRecord, parsedJson } from "../../text/values.ts";
import type { ModelTimeouts } from "./model-spec.ts";
import type { Provider } from "./providers.ts";
import { providers } from "./providers.ts";

export interface LocalModel {
  /** The server's name for it. */
  readonly name: string;
  /** Absent if the server doesn't report it. */
  readonly contextWindow?: number;
}

/** The result for one server's usual address. Running and usable unless `problem` is set. */
export interface LocalServer {
  /** A model's id is `<provider>/<name>`. */
  readonly provider: string;
  readonly name: string;
  readonly address: string;
  /** It listens elsewhere than its preset's address, so its models need `baseUrl`. */
  readonly isElsewhere?: true;
  readonly models: readonly LocalModel[];
  readonly problem?: string;
}

const deadlineMs = 3_000;
const timeouts: ModelTimeouts = { connectMs: 1_000, firstByteMs: deadlineMs, idleMs: deadlineMs };
const maxBytes = 1024 * 1024;
const maxModels = 200;
const maxNameLength = 200;

type Fetch = typeof globalThis.fetch;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Queries all servers at once for their models, with short timeouts, because other programs may listen there. Never
 * rejects. A key goes only to a server that asks for one.
 */
export async function discoverLocalModels(
  openFetch: (timeouts: ModelTimeouts) => Promise<Fetch>,
  env: Environment,
  signal: AbortSignal,
  servers: readonly Provider[] = localServers(),
): Promise<readonly LocalServer[]> {
  const fetch = await openFetch(timeouts);
  return Promise.all(
    servers.map(async (server) => {
      const { id: provider, name, baseUrl: address } = server;
      const found = {
        provider,
        name,
        address,
        ...(address === server.comingBaseUrl ? { isElsewhere: true as const } : {}),
      };
      try {
        return { ...found, ...(await ask(server, fetch, env, signal)) };
      } catch (error) {
        return { ...found, models: [], problem: problemOf(error, signal) };
      }
    }),
  );
}

function localServers(): readonly Provider[] {
  return providers
    .filter(({ isLocal, baseUrl }) => isLocal === true && baseUrl !== "")
    .flatMap((server) => {
      const { comingBaseUrl: baseUrl } = server;
      return baseUrl === undefined ? [server] : [server, { ...server, baseUrl }];
    });
}

type Answer = Pick<LocalServer, "models" | "problem">;

/** The deadline covers the whole exchange, because a server that trickles bytes never idles. */
async function ask(server: Provider, fetch: Fetch, env: Environment, signal: AbortSignal): Promise<Answer> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  const timer = setTimeout(stop, deadlineMs);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) stop();
    return await answerOf(server, fetch, env, stopping.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

async function answerOf(server: Provider, fetch: Fetch, env: Environment, signal: AbortSignal): Promise<Answer> {
  const get = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${server.baseUrl}/models`, { headers: { accept: "application/json", ...headers }, signal });
  const variable = server.keyVariables.find((name) => (env[name] ?? "") !== "");
  let response = await get({});
  if (needsKey(response) && variable !== undefined) {
    await response.body?.cancel();
    response = await get({ authorization: `Bearer ${(env[variable] ?? "").trim()}` });
  }
  const refused = refusal(response, server, variable);
  if (refused !== undefined) {
    await response.body?.cancel();
    return { models: [], problem: refused };
  }
  const text = await boundedText(response);
  if (text === undefined) return { models: [], problem: "its model list is larger than 1 MB" };
  const models = modelsIn(text);
  if (models === undefined) return { models: [], problem: "not a model server" };
  return models.length === 0 ? { models, problem: "it has no models" } : { models };
}

function needsKey({ status }: Response): boolean {
  return status === 401 || status === 403;
}

function refusal(response: Response, { keyVariables }: Provider, variable: string | undefined): string | undefined {
  if (response.ok) return undefined;
  if (!needsKey(response)) return `it returned status ${response.status}`;
  if (variable !== undefined) return `it refused the key in ${variable} (${response.status})`;
  const hint = keyVariables.length === 0 ? "" : `: set ${keyVariables.join(" or ")}`;
  return `it needs a key (${response.status})${hint}`;
}

async function boundedText(response: Response): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    pieces.push(next.value);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Parses a list in OpenAI's format; `undefined` for anything else. */
function modelsIn(text: string): readonly LocalModel[] | undefined {
  const value = parsedJson(text);
  if (!isRecord(value) || !Array.isArray(value.data)) return undefined;
  const found = new Map<string, LocalModel>();
  for (const model of value.data as readonly unknown[]) {
    if (!isRecord(model) || typeof model.id !== "string" || !isName(model.id) || found.size >= maxModels) continue;
    const meta = fieldsOf(model.meta);
    // vLLM's key and llama.cpp's.
    const window = [model.max_model_len, meta.n_ctx].find((size) => Number.isSafeInteger(size) && Number(size) > 0);
    found.set(model.id, { name: model.id, ...(window === undefined ? {} : { contextWindow: Number(window) }) });
  }
  return [...found.values()];
}

function isName(text: string): boolean {
  return text.length > 0 && text.length <= maxNameLength && !/[\s\p{C},]/u.test(text);
}

function problemOf(error: unknown, stopped: AbortSignal): string {
  if (stopped.aborted) return "the query was cancelled";
  const { kind, message } = error as { readonly kind?: unknown; readonly message?: unknown };
  if (kind === "refused") return "nothing listens there";
  if (kind === "aborted") return `it did not answer within ${deadlineMs / 1_000} s`;
  return typeof message === "string" ? message : "the query failed";
}
