import type { Failure } from "../engine/errors.ts";
import type { ModelEvent, ModelInfo, ModelPort, ModelRequest } from "../engine/ports.ts";
import { defaultPatienceMs, type ErrorEvent, Patience, type PatienceOptions } from "./patience.ts";
import { defaultSilence, type SilenceLimits } from "./silence.ts";

export interface RetryOptions extends PatienceOptions {
  readonly silence?: SilenceLimits;
}

/** A model that makes one attempt per call, and its patience. */
export interface Candidate {
  readonly model: ModelPort;
  readonly options: RetryOptions;
}

const summaryPatienceMs = 20_000;
const summarySilenceShare = 1 / 3;

/** A list of steps can stand in for a summary, so its model gets less time. */
export function patientFor({ purpose }: ModelRequest, { model, options }: Candidate): Candidate {
  if (purpose !== "summary") return { model, options };
  const { patienceMs = defaultPatienceMs, silence: { firstByteMs, idleMs } = defaultSilence } = options;
  const share = (ms: number): number => Math.ceil(ms * summarySilenceShare);
  const silence = { firstByteMs: share(firstByteMs), idleMs: share(idleMs) };
  const shorter = { patienceMs: Math.min(patienceMs, summaryPatienceMs), retriesAfterSilence: 0, silence };
  return { model, options: { ...options, ...shorter } };
}

/** Models to use while the first is unavailable. */
export interface Fallbacks {
  /** Retry limit per model while another is left. */
  readonly afterMs: number;
  /** The fallback at this index, or undefined past the end. A string says why it can't take the request. */
  open(index: number, request: ModelRequest): Promise<Candidate | string | undefined>;
  /** The fallback completed a reply. */
  answered(index: number): void;
}

interface Asked extends Candidate {
  readonly patience: Patience;
  /** Index among the fallbacks; -1 for the first model. */
  readonly index: number;
}

/** Decides which model makes the next attempt of one reply, and when. */
export class Chain {
  asked: Asked;
  attempt = 1;
  /** True before any attempt of `asked` has failed. */
  isNew = true;
  private readonly first: Asked;
  private firstFailed: ErrorEvent | undefined;
  private readonly fallbacks: Fallbacks | undefined;
  /** The next fallback, or undefined past the end. */
  private next: number | undefined;

  constructor(first: Candidate, fallbacks: Fallbacks | undefined) {
    this.first = { ...first, patience: new Patience(first.options), index: -1 };
    this.asked = this.first;
    this.fallbacks = fallbacks;
    this.next = fallbacks === undefined ? undefined : 0;
  }

  ended(): void {
    if (this.asked.index >= 0) this.fallbacks?.answered(this.asked.index);
  }

  /**
   * Notices, then a `retry` by `asked` or the final error. `lostMs`: time the attempt took without showing anything.
   * After the last fallback, the first model gets the rest of its patience.
   */
  async after(failed: ErrorEvent, lostMs: number, request: ModelRequest): Promise<readonly ModelEvent[]> {
    const { asked, first } = this;
    const isFirst = asked === first;
    this.isNew = false;
    if (isFirst) this.firstFailed = failed;
    const failure = isFirst ? failed.failure : ofFallback(failed.failure, asked.model.info);
    const shortMs = this.next === undefined ? undefined : this.fallbacks?.afterMs;
    const delayMs = asked.patience.pauseAfter(failed, lostMs, shortMs);
    if (delayMs !== undefined) return [this.retry(delayMs, failure)];
    if (isFirst && !failed.retryable) return [failed];

    const notices: ModelEvent[] = [];
    const fallback = await this.nextFallback(request, notices);
    if (fallback !== undefined) {
      this.asked = fallback;
      this.isNew = true;
      return [...notices, this.retry(0, failure, fallback.model.info)];
    }
    const last = this.firstFailed ?? failed;
    const restMs = first.patience.pauseAfter(last, isFirst ? lostMs : 0);
    this.asked = first;
    if (restMs !== undefined) return [...notices, this.retry(restMs, failure, isFirst ? undefined : first.model.info)];
    if (!isFirst) notices.push(notice(failure.message));
    const { retryAfterMs } = last;
    const isTooLong = retryAfterMs !== undefined && first.patience.exceeds(retryAfterMs);
    return [...notices, isTooLong ? tooLong(last, retryAfterMs) : last];
  }

  private async nextFallback(request: ModelRequest, notices: ModelEvent[]): Promise<Asked | undefined> {
    while (this.next !== undefined) {
      const index = this.next;
      const found = await this.fallbacks?.open(index, request);
      this.next = found === undefined ? undefined : index + 1;
      if (typeof found === "string") notices.push(notice(found));
      else if (found !== undefined) {
        const candidate = patientFor(request, found);
        return { ...candidate, patience: new Patience(candidate.options), index };
      }
    }
    return undefined;
  }

  private retry(delayMs: number, failure: Failure, model?: ModelInfo): ModelEvent {
    const { attempt } = this;
    this.attempt += 1;
    return { type: "retry", attempt, delayMs, failure, ...(model === undefined ? {} : { model }) };
  }
}

function notice(text: string): ModelEvent {
  return { type: "notice", level: "warning", text };
}

function ofFallback(failure: Failure, { id }: ModelInfo): Failure {
  return { ...failure, message: `The fallback ${id} failed. ${failure.message}` };
}

function tooLong(failed: ErrorEvent, delayMs: number): ErrorEvent {
  const wait = `It asks for a wait of ${Math.ceil(delayMs / 1_000)} s, over the limit.`;
  return { ...failed, failure: { ...failed.failure, message: `${failed.failure.message} ${wait}` } };
}
