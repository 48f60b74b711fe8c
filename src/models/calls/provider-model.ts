import type { ModelEvent, ModelPort } from "../../engine/ports.ts";
import type { ModelSpec } from "../providers/model-spec.ts";
import type { Watch } from "../traffic/watched-fetch.ts";
import { watchedFetch } from "../traffic/watched-fetch.ts";
import type { OpenAnswer } from "./ai-sdk.ts";
import { openAnswer } from "./ai-sdk.ts";
import { chooseEffort } from "./effort.ts";
import { countLeftOut } from "./prompt.ts";
import { providerFailure } from "./provider-failure.ts";
import { redactor } from "./redact.ts";

/**
 * A provider's model. Each call is a single attempt, and all failures are events. `now`: the time of day, for servers
 * that name a time to retry at.
 */
export function createProviderModel(spec: ModelSpec, fetch: typeof globalThis.fetch, now: () => number): ModelPort {
  const redact = redactor([spec.apiKey, ...Object.values(spec.headers), ...new URLSearchParams(spec.query).values()]);

  async function* stream(...[request, signal, heard]: Parameters<ModelPort["stream"]>): AsyncGenerator<ModelEvent> {
    if (spec.missing !== undefined) {
      yield { type: "error", failure: { code: "model_auth", message: spec.missing }, retryable: false };
      return;
    }
    const wanted = request.reasoningEffort === "none" ? (spec.defaultEffort ?? "none") : request.reasoningEffort;
    const { effort, notice } = chooseEffort(wanted, spec.info.reasoningEfforts, spec.info.id);
    if (notice !== undefined) yield { type: "notice", level: "warning", text: notice };
    const leftOut = countLeftOut(request, spec);
    if (leftOut > 0) {
      const what = leftOut === 1 ? "1 image or document was" : `${leftOut} images or documents were`;
      yield { type: "notice", level: "warning", text: `${what} left out: unsupported by ${spec.info.id}.` };
    }
    const watch: Watch = { status: 0, saysDone: false, heard: () => heard?.() };
    let answer: OpenAnswer | undefined;
    try {
      answer = await openAnswer(spec, watchedFetch(spec, fetch, watch), request, effort, signal, watch);
      for (;;) {
        for (const event of await answer.next()) {
          yield event;
          if (event.type === "end") return;
        }
      }
    } catch (error) {
      if (!signal.aborted) yield providerFailure(error, spec, redact, watch, now());
    } finally {
      answer?.close();
    }
  }

  return { info: spec.info, boundsSilence: true, stream };
}
