import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { loadBundled } from "./bundle.mjs";

/**
 * The engine in this process, with the real store and policy, but an instant model and an empty tool, so that only the
 * engine's own work counts.
 *
 * @typedef {import("../src/engine/session/session.ts").Session} Session
 * @typedef {import("../src/engine/engine-parts.ts").EngineParts} EngineParts
 * @typedef {import("../src/engine/ports.ts").ModelPort} ModelPort
 * @typedef {import("../src/engine/ports.ts").ModelRequest} ModelRequest
 * @typedef {import("../src/engine/tool.ts").Tool} Tool
 */

/** @param {string} folder where the bundle goes */
async function loadEngine(folder) {
  const { engine, context, budget, store, policy } = await loadBundled(folder, {
    engine: "engine/engine.ts",
    context: "engine/context/request.ts",
    budget: "engine/context/budget.ts",
    store: "store/jsonl-store.ts",
    policy: "permissions/policy.ts",
  });
  return {
    /** @type {typeof import("../src/engine/engine.ts").Engine} */ Engine: engine.Engine,
    /** @type {typeof import("../src/engine/context/request.ts")} */ context,
    /** @type {typeof import("../src/engine/context/budget.ts")} */ budget,
    /** @type {typeof import("../src/store/jsonl-store.ts").createJsonlStore} */ createJsonlStore:
      store.createJsonlStore,
    /** @type {typeof import("../src/permissions/policy.ts").createPermissionPolicy} */
    createPermissionPolicy: policy.createPermissionPolicy,
  };
}

/** The text of every prompt, reply and result in the benchmark. */
const filler = "The quick brown fox jumps over the lazy dog and looks around. ".repeat(2).trim();

const usage = { input: 100, output: 50, cacheRead: 0, cacheWrite: 0, thinking: 0 };

/**
 * Calls the tool once, then answers.
 * @param {number} contextWindow
 * @returns {ModelPort}
 */
function benchModel(contextWindow) {
  return {
    info: {
      id: "offline",
      provider: "bench",
      displayName: "Bench",
      contextWindow,
      maxOutputTokens: 10_000,
      reasoningEfforts: ["none"],
      images: false,
    },
    async *stream(request) {
      const called = request.purpose === "summary" || request.messages.at(-1)?.role === "tool";
      if (called) yield { type: "text", text: filler };
      else yield { type: "tool_call", id: randomUUID(), name: "Note", inputText: "{}" };
      yield { type: "usage", usage };
      yield { type: "end", stop: called ? "end" : "tool_calls" };
    },
  };
}

/** @type {Tool} */
const note = {
  name: "Note",
  kind: "read",
  title: "Does nothing",
  description: "Does nothing.",
  concurrent: true,
  load: async () => ({
    input: z.object({}),
    access: async () => [],
    run: async () => ({ text: filler, status: "ok" }),
  }),
};

/** @type {import("../src/engine/settings.ts").SessionSettings} */
const settings = { modelId: "offline", reasoningEffort: "none", autonomy: "off", mode: "auto" };

/** A machine on which every path resolves to itself, without other features. */
function quietHost() {
  const nothing = { closed: [], kept: [], programs: [], links: [] };
  const asked = {
    files: { canonical: async (/** @type {string} */ path) => path },
    guards: {
      leadTo: async () => nothing,
      repositories: async () => nothing,
      fromEnvironment: async () => nothing,
    },
  };
  return /** @type {EngineParts["host"]} */ (/** @type {unknown} */ (asked));
}

/**
 * @param {string} folder for the bundle
 * @param {string} home Tinman's home, where the logs go
 * @param {number} [contextWindow] tokens; by default so many that nothing is ever compacted
 */
export async function benchEngine(folder, home, contextWindow = 100_000_000) {
  const { Engine, context, budget, createJsonlStore, createPermissionPolicy } = await loadEngine(folder);
  const model = benchModel(contextWindow);
  const host = quietHost();
  const engine = new Engine({
    store: createJsonlStore({ home }),
    models: { list: async () => [model.info], unusable: async () => [], resolve: async () => model },
    policy: createPermissionPolicy(() => "bash"),
    tools: { version: 0, list: () => [note] },
    host,
    context: { reminders: async () => [] },
    clock: {
      now: Date.now,
      monotonic: () => performance.now(),
      after(ms, callback) {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
    },
    ids: { next: randomUUID },
    rules: async () => ({ rules: { allow: [], deny: [], alwaysDeny: [] }, notices: [] }),
    places: { home, ownHome: home, temp: "/tmp", outputs: () => join(home, "outputs") },
    toolSchema: async () => ({}),
  });

  return {
    /** @param {string} cwd */
    newSession: (cwd) => engine.create({ cwd, settings }),

    /**
     * One complete turn: prompt, model call, tool call, model call.
     * @param {Session} session
     */
    async driveTurn(session) {
      const { reason, failure } = await session.prompt([{ type: "text", text: filler }]).outcome;
      if (reason !== "completed") throw new Error(`a turn ended as ${reason}: ${failure?.message}`);
    },

    /**
     * Only the turn loop's steps from the history to a request.
     * @param {Session} session
     */
    buildRequest(session) {
      const specs = [{ name: note.name, description: note.description, inputSchema: async () => ({}) }];
      const { settings } = session;
      const messages = [...session.history()];
      const request = context.buildRequest(
        { id: "bench", origins: [], settings, messages, standIn: undefined },
        messages,
        specs,
      );
      return budget.fitsWindow(request, budget.budgetOf(model.info, settings));
    },

    close: () => engine.close(),
  };
}
