import type { ModelTimeouts } from "./model-spec.ts";
import type { Provider } from "./providers.ts";
import { providers } from "./providers.ts";

export interface LocalModel {
  /** As the server calls it. */
  readonly name: string;
  /** Where the server says so. */
  readonly contextWindow?: number;
}

/** What was found at the place where a server usually listens. Without a problem it runs. */
export interface LocalServer {
  /** `<provider>/<name>` calls one of its models. */
  readonly provider: string;
  readonly name: string;
  readonly address: string;
  readonly models: readonly LocalModel[];
  readonly problem?: string;
}

const deadlineMs = 3_000;
const timeouts: ModelTimeouts = { connectMs: 1_000, firstByteMs: deadlineMs, idleMs: deadlineMs };
const mostBytes = 1024 * 1024;
const mostModels = 200;
const longestName = 200;

type Fetch = typeof globalThis.fetch;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Asks each for its list of models, all at once, with little patience: what listens there may be anything. Never rejects. A
 * key is sent only to a server that asks for one.
 */
export async function discoverLocalModels(
  openFetch: (timeouts: ModelTimeouts) => Promise<Fetch>,
  env: Environment,
  signal: AbortSignal,
  servers: readonly Provider[] = providers.filter(({ isLocal, baseUrl }) => isLocal === true && baseUrl !== ""),
): Promise<readonly LocalServer[]> {
  const fetch = await openFetch(timeouts);
  return Promise.all(
    servers.map(async (server) => {
      const { id: provider, name, baseUrl: address } = server;
      const found = { provider, name, address };
      try {
        return { ...found, ...(await ask(server, fetch, env, signal)) };
      } catch (error) {
        return { ...found, models: [], problem: problemOf(error, signal) };
      }
    }),
  );
}

type Answer = Pick<LocalServer, "models" | "problem">;

/** The deadline is for the whole of it: a server that sends a byte now and then is not silent. */
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
  if (wantsKey(response) && variable !== undefined) {
    await response.body?.cancel();
    response = await get({ authorization: `Bearer ${(env[variable] ?? "").trim()}` });
  }
  const refused = refusal(response, server, variable);
  if (refused !== undefined) {
    await response.body?.cancel();
    return { models: [], problem: refused };
  }
  const text = await boundedText(response);
  if (text === undefined) return { models: [], problem: "its list of models is larger than 1 MB" };
  const models = modelsIn(text);
  if (models === undefined) return { models: [], problem: "what answers there is not a model server" };
  return models.length === 0 ? { models, problem: "it runs, and has no model" } : { models };
}

function wantsKey({ status }: Response): boolean {
  return status === 401 || status === 403;
}

function refusal(response: Response, { keyVariables }: Provider, variable: string | undefined): string | undefined {
  if (response.ok) return undefined;
  if (!wantsKey(response)) return `it answered with status ${response.status}`;
  if (variable !== undefined) return `it refused the key of ${variable} (${response.status})`;
  const hint = keyVariables.length === 0 ? "" : `: set ${keyVariables.join(" or ")}`;
  return `it wants a key (${response.status})${hint}`;
}

async function boundedText(response: Response): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.byteLength;
    if (length > mostBytes) {
      await reader.cancel();
      return undefined;
    }
    pieces.push(next.value);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Of a list in OpenAI's format. `undefined`: it is none. */
function modelsIn(text: string): readonly LocalModel[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !Array.isArray(value.data)) return undefined;
  const found = new Map<string, LocalModel>();
  for (const one of value.data as readonly unknown[]) {
    if (!isObject(one) || typeof one.id !== "string" || !isName(one.id) || found.size >= mostModels) continue;
    const meta = isObject(one.meta) ? one.meta : {};
    // vLLM's name for it, and llama.cpp's.
    const window = [one.max_model_len, meta.n_ctx].find((size) => Number.isSafeInteger(size) && Number(size) > 0);
    found.set(one.id, { name: one.id, ...(window === undefined ? {} : { contextWindow: Number(window) }) });
  }
  return [...found.values()];
}

function isName(text: string): boolean {
  return text.length > 0 && text.length <= longestName && !/[\s\p{C},]/u.test(text);
}

function problemOf(error: unknown, stopped: AbortSignal): string {
  if (stopped.aborted) return "it was not waited for";
  const { kind, message } = error as { readonly kind?: unknown; readonly message?: unknown };
  if (kind === "refused") return "nothing listens there";
  if (kind === "aborted") return `it did not answer within ${deadlineMs / 1_000} s`;
  return typeof message === "string" ? message : "it cannot be asked";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
