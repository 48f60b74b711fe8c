import { errorCodes } from "../protocol/droid/version.ts";
import { type Fields, fieldsOf, textOf } from "../text/values.ts";
import type {
  CallOptions,
  CommonOptions,
  Connect,
  CreateOptions,
  PromptOptions,
  Query,
  ResumeOptions,
  Session,
  SettingsChange,
  Turn,
} from "./api.ts";
import { checkText, countable } from "./check-options.ts";
import { connected } from "./connection/connecting.ts";
import { ClosedError, RequestError, SdkError, SessionNotFoundError } from "./errors.ts";
import { isFormat, openSession } from "./session.ts";
import { newId, notRun } from "./turns/prompt-params.ts";
import { onceOnly } from "./turns/turn.ts";
import type { TurnEvent, TurnResult } from "./types.ts";
import { given } from "./wire.ts";
import { inOlderWords } from "./wire-settings.ts";

const machineId = "tinman-sdk";

type Request = (method: string, params: object) => Promise<Fields>;

export async function createOver(
  connect: Connect,
  options: CreateOptions,
  cwd: string | undefined = options.cwd,
): Promise<Session> {
  const common = prepared(options);
  return openSession(await connected(connect, common), common, {
    open: async (request) => {
      const told = await initialize(request, paramsOf(options, cwd));
      if (options.systemPrompt !== undefined && !("systemPrompt" in fieldsOf(told.settings))) {
        warn(common, "The backend does not support systemPrompt, and ignores it.");
      }
      const id = textOf(told.sessionId);
      if (id === undefined) throw new SdkError("The backend did not return the session's id.");
      return { id, told: { cwd, ...told } };
    },
    another: (id, settings) => forkOver(connect, common, id, settings, cwd),
  });
}

/** `cwd` is for older backends, which must open a session before they load another. */
export async function resumeOver(connect: Connect, id: string, options: ResumeOptions, cwd?: string): Promise<Session> {
  const common = prepared(options);
  const wishes = settingsOf(options);
  const session = await openSession(await connected(connect, common), common, {
    id,
    open: async (request) => ({ id, told: await load(request, id, cwd, options) }),
    another: (copy, settings) => forkOver(connect, common, copy, settings, cwd),
  });
  try {
    const { signal } = common;
    if (Object.keys(wishes).length > 0) await session.updateSettings(wishes, given<CallOptions>({ signal }));
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function forkOver(
  connect: Connect,
  options: CommonOptions,
  id: string,
  settings: SettingsChange,
  cwd: string | undefined,
): Promise<Session> {
  const { signal: _ofTheFirst, ...others } = options;
  return resumeOver(connect, id, { ...others, ...settings }, cwd);
}

/** The options that forks share. Handlers are bound, because options can be an object of any class. */
function prepared(options: CommonOptions): CommonOptions {
  return given<CommonOptions>({
    connect: options.connect,
    timeouts: countable(options.timeouts),
    whenBusy: options.whenBusy,
    mcpServers: options.mcpServers,
    mcpOAuthCallbackUri: options.mcpOAuthCallbackUri,
    signal: options.signal,
    onPermission: options.onPermission?.bind(options),
    onPlan: options.onPlan?.bind(options),
    onQuestion: options.onQuestion?.bind(options),
    onEvent: options.onEvent?.bind(options),
    onWarning: options.onWarning?.bind(options),
  });
}

/** Errors in handlers must not break the session. */
function warn({ onWarning }: CommonOptions, words: string): void {
  try {
    onWarning?.(words);
  } catch {}
}

function settingsOf(options: SettingsChange): SettingsChange {
  return given<SettingsChange>({
    modelId: options.modelId,
    reasoningEffort: options.reasoningEffort,
    interactionMode: options.interactionMode,
    autonomyLevel: options.autonomyLevel,
    specModeModelId: options.specModeModelId,
    specModeReasoningEffort: options.specModeReasoningEffort,
    enabledToolIds: options.enabledToolIds,
    disabledToolIds: options.disabledToolIds,
  });
}

function paramsOf(options: CreateOptions, cwd: string | undefined): Fields {
  const { systemPrompt } = options;
  return given<Fields>({
    machineId,
    cwd,
    sessionId: options.sessionId,
    ...settingsOf(options),
    // `null` is a new session's default.
    specModeModelId: options.specModeModelId ?? undefined,
    specModeReasoningEffort: options.specModeReasoningEffort ?? undefined,
    systemPrompt:
      typeof systemPrompt === "object" ? { type: "preset", preset: "droid", ...systemPrompt } : systemPrompt,
    tags: options.tags,
    mcpServers: options.mcpServers,
    mcpOAuthCallbackUri: options.mcpOAuthCallbackUri,
  });
}

/** Tries current settings first, then those of older backends. */
async function initialize(request: Request, params: Fields): Promise<Fields> {
  try {
    return await request("droid.initialize_session", params);
  } catch (error) {
    const older = isFormat(error) ? inOlderWords(params) : undefined;
    if (older === undefined) throw error;
    return request("droid.initialize_session", older);
  }
}

/** Older backends load a session only when another one is open. */
async function load(
  request: Request,
  sessionId: string,
  cwd: string | undefined,
  { mcpServers, mcpOAuthCallbackUri }: ResumeOptions,
): Promise<Fields> {
  const params = given({ sessionId, mcpServers, mcpOAuthCallbackUri });
  try {
    return await request("droid.load_session", params);
  } catch (error) {
    if (!isMissingSession(error)) throw error;
    await request("droid.initialize_session", given({ machineId, cwd })).catch((failure: unknown) => {
      // Report the first error, not why another session could not be opened.
      throw failure instanceof RequestError ? error : failure;
    });
    return request("droid.load_session", params);
  }
}

/** Matched by text: older backends report this only in the message, or as an invalid request. */
function isMissingSession(error: unknown): boolean {
  if (!(error instanceof RequestError) || error instanceof SessionNotFoundError) return false;
  return (
    error.code === errorCodes.invalidRequest ||
    /\bno (active |open |current )?session\b|\binitiali[sz]e/i.test(error.message)
  );
}

/** One prompt in its own session, opened on first use and closed when the turn has ended. */
export function queryOver(open: () => Promise<Session>, prompt: string, options: PromptOptions): Query {
  checkText("A prompt", prompt);
  const { id = newId() } = options;
  const interrupted = notRun(id);
  let isCancelled = false;
  let begun: Promise<{ readonly session: Session; readonly turn: Turn }> | undefined;
  let result: Promise<TurnResult> | undefined;
  let isIterated = false;
  let sessionId: string | undefined;

  function begin() {
    begun ??= open().then((session) => {
      sessionId = session.id;
      return { session, turn: session.stream(prompt, { ...options, id }) };
    });
    return begun;
  }

  async function* events(): AsyncGenerator<TurnEvent, undefined> {
    if (isCancelled) {
      yield { type: "end", result: interrupted };
      return;
    }
    const { session, turn } = await begin();
    try {
      yield* turn;
    } finally {
      await session.close();
    }
  }

  async function outcome(): Promise<TurnResult> {
    if (isCancelled) return interrupted;
    const { session, turn } = await begin();
    try {
      return await turn.result;
    } catch (error) {
      // Only leaving the loop closes the session.
      if (error instanceof ClosedError) return interrupted;
      throw error;
    } finally {
      await session.close();
    }
  }

  return {
    id,
    get sessionId() {
      return sessionId;
    },
    get result() {
      if (result === undefined) {
        result = outcome();
        // The iterator also throws it.
        result.catch(() => {});
      }
      return result;
    },
    async interrupt() {
      if (begun === undefined) isCancelled = true;
      // `result` and the iterator report why opening failed.
      const opened = await begun?.catch(() => undefined);
      await opened?.turn.interrupt();
    },
    [Symbol.asyncIterator]() {
      // A second loop would close the session under the first.
      if (isIterated) throw new TypeError(onceOnly);
      isIterated = true;
      return events();
    },
  };
}
