import type { ModelEvent, ModelPort, ModelRequest } from "../core/ports.ts";
import type { LanguageModel } from "./ai-sdk.ts";
import { openModel, streamOnce } from "./ai-sdk.ts";
import { chooseEffort } from "./effort.ts";
import type { ModelSpec } from "./model-spec.ts";
import { countLeftOut } from "./prompt.ts";
import { providerFailure, shownUrl } from "./provider-failure.ts";
import { redactor } from "./redact.ts";

/** A provider's model: one attempt for every call, and every fault an event. `fetch` is all that it knows of the network. */
export function createProviderModel(spec: ModelSpec, fetch: typeof globalThis.fetch): ModelPort {
  const redact = redactor([spec.apiKey, ...Object.values(spec.headers), ...secretsIn(spec.baseUrl)]);
  const guarded = guardedFetch(spec, fetch);
  let opened: Promise<LanguageModel> | undefined;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (spec.missing !== undefined) {
      yield { type: "error", failure: { code: "model_auth", message: spec.missing }, retryable: false };
      return;
    }
    const { effort, notice } = chooseEffort(request.reasoningEffort, spec.info.reasoningEfforts, spec.info.id);
    if (notice !== undefined) yield { type: "notice", level: "warning", text: notice };
    const leftOut = countLeftOut(request, spec);
    if (leftOut > 0) {
      const what = leftOut === 1 ? "1 image or document is" : `${leftOut} images or documents are`;
      yield { type: "notice", level: "warning", text: `${what} not sent: ${spec.info.id} does not take them.` };
    }
    try {
      opened ??= openModel(spec, guarded);
      yield* streamOnce(await opened, spec, request, effort, signal);
    } catch (error) {
      if (!signal.aborted) yield providerFailure(error, spec, redact);
    }
  }

  return { info: spec.info, stream };
}

/** Adds the entry's own arguments, and tells a web page from an answer: a wrong address often leads to one. */
function guardedFetch(spec: ModelSpec, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => {
    const headers = { ...(init?.headers as Readonly<Record<string, string>>), "user-agent": agentOf(spec) };
    const response = await fetch(url, { ...init, headers, ...bodyOf(spec, init?.body) });
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && /^text\/html\b/i.test(type)) {
      await response.body?.cancel();
      const message = `${shownUrl(spec.baseUrl)} answered with a web page: it is not the address of a model.`;
      throw Object.assign(new Error(message), { name: "NetworkError", kind: "invalid" });
    }
    return response;
  };
}

function agentOf({ headers }: ModelSpec): string {
  const [, own] = Object.entries(headers).find(([name]) => name.toLowerCase() === "user-agent") ?? [];
  return own ?? `tinman/${TINMAN_VERSION}`;
}

function bodyOf(spec: ModelSpec, body: unknown): { readonly body?: string } {
  const isRenamed = spec.thinkingField === "reasoning";
  if (typeof body !== "string" || (!isRenamed && Object.keys(spec.extraArguments).length === 0)) return {};
  const value = { ...(JSON.parse(body) as Record<string, unknown>), ...spec.extraArguments };
  return { body: JSON.stringify(isRenamed ? withReasoningField(value) : value) };
}

/** The SDK knows one name of the field in which thoughts go back. */
function withReasoningField(body: Record<string, unknown>): Record<string, unknown> {
  const messages = body.messages as readonly Record<string, unknown>[];
  const renamed = messages.map(({ reasoning_content: reasoning, ...message }) =>
    reasoning === undefined ? message : { ...message, reasoning },
  );
  return { ...body, messages: renamed };
}

function secretsIn(url: string): readonly string[] {
  try {
    const { username, password, searchParams } = new URL(url);
    return [username, password, ...searchParams.values()].map(decodeURIComponent);
  } catch {
    return [];
  }
}
