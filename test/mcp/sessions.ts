import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Answer, Interaction } from "../../src/engine/interaction.ts";
import type { NamedServer, ServerEntry } from "../../src/engine/servers/server-entry.ts";
import type { ServerEventBody } from "../../src/engine/servers/server-state.ts";
import type { ToolServers } from "../../src/engine/servers/tool-servers.ts";
import type { ToolContext, ToolOutput } from "../../src/engine/tool.ts";
import { systemClock } from "../../src/host/clock-and-ids.ts";
import { createServerStarter } from "../../src/host/processes/server-process.ts";
import type { SourcedServer } from "../../src/mcp/entries/sourced-server.ts";
import type { ServerSources } from "../../src/mcp/entries/sources.ts";
import { createOpenServers, type OpenServersOptions } from "../../src/mcp/open-servers.ts";
import { createSignIns } from "../../src/mcp/sign-in/sign-ins.ts";
import { createFetch } from "../../src/net/http/fetch.ts";
import { createNetwork } from "../../src/net/network.ts";
import { checkImage } from "../../src/tools/read/read-image.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";

const require = createRequire(import.meta.url);

/** A stdio entry for one of the scripts in `servers`, or a package's program. */
export function script(name: string, ...args: readonly string[]): ServerEntry & { kind: "stdio" } {
  const path = fileURLToPath(new URL(`servers/${name}`, import.meta.url));
  return { kind: "stdio", command: process.execPath, args: [path, ...args], env: {} };
}

export function program(name: string, ...args: readonly string[]): ServerEntry & { kind: "stdio" } {
  const folder = dirname(require.resolve(`${name}/package.json`));
  return { kind: "stdio", command: process.execPath, args: [join(folder, "dist/index.js"), ...args], env: {} };
}

/** Sources in memory. */
export function memorySources(...servers: readonly SourcedServer[]): ServerSources & { servers: SourcedServer[] } {
  const own = {
    servers: [...servers],
    list: async () => ({ servers: [...own.servers], problems: [] }),
    add: async ({ name, entry }: NamedServer) => void own.servers.push({ name, entry, source: "user" }),
    async remove(name: string) {
      const { length } = own.servers;
      own.servers = own.servers.filter((server) => server.name !== name);
      return own.servers.length < length;
    },
    async setEnabled(name: string, isEnabled: boolean) {
      own.servers = own.servers.map((server) =>
        server.name === name ? { ...server, entry: { ...server.entry, isDisabled: !isEnabled } } : server,
      );
      return own.servers.some((server) => server.name === name);
    },
    async setToolEnabled(name: string, tool: string, isEnabled: boolean) {
      own.servers = own.servers.map((server) =>
        server.name === name ? { ...server, disabledTools: isEnabled ? [] : [tool] } : server,
      );
      return true;
    },
  };
  return own;
}

export interface OpenSession {
  readonly servers: ToolServers;
  readonly events: ServerEventBody[];
  readonly asked: (Interaction & { kind: "question" })[];
  readonly progress: string[];
  settled(): Promise<void>;
  /** Decides and runs a call of a tool. */
  call(name: string, input?: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
  until(is: () => boolean): Promise<void>;
}

interface Given extends Partial<OpenServersOptions> {
  readonly given?: Readonly<Record<string, ServerEntry>>;
  readonly cwd?: string;
  readonly canAsk?: boolean;
  answer?(interaction: Interaction & { kind: "question" }): Answer | undefined;
}

/** A session's servers on this machine. They are closed after the test. */
export function openSession({
  given = {},
  cwd = process.cwd(),
  canAsk = false,
  answer,
  ...options
}: Given): OpenSession {
  const events: ServerEventBody[] = [];
  const asked: (Interaction & { kind: "question" })[] = [];
  const progress: string[] = [];
  const changes = new Set<() => void>();
  const servers = createOpenServers({
    clock: systemClock,
    sources: memorySources(),
    startProgram: createServerStarter({ sandbox: () => Promise.reject(new Error("no sandbox")) }),
    contain: () => Promise.reject(new Error("no sandbox")),
    release: async () => undefined,
    fetch: async () => createFetch(createNetwork({}), { connectMs: 5_000, firstByteMs: 60_000, idleMs: 60_000 }),
    signIns: async () => createSignIns({ home: "/nowhere", clock: systemClock, fetch: async () => globalThis.fetch }),
    checkImage: async (bytes) => checkImage(bytes),
    ...options,
  })({
    sessionId: "s1",
    cwd,
    given: Object.entries(given).map(([name, entry]) => ({ name, entry })),
    tell(event) {
      events.push(event);
      for (const check of [...changes]) check();
    },
    canAsk: () => canAsk,
    async ask(interaction) {
      asked.push(interaction);
      return answer?.(interaction);
    },
  });
  onTestFinished(() => servers.close());
  const host = createMemoryHost({});
  return {
    servers,
    events,
    asked,
    progress,
    settled: () => servers.settled(new AbortController().signal),
    async call(name, input = {}, changed = {}) {
      const tool = servers.list().find((known) => known.name === name);
      if (tool === undefined) throw new Error(`There is no tool ${name}.`);
      const body = await tool.load();
      const scope = { sessionId: "s1", cwd, home: "/home/user", host };
      const accesses = await body.access(input, scope);
      return body.run(input, {
        ...scope,
        accesses,
        callId: "c1",
        signal: new AbortController().signal,
        mode: "auto",
        protectedPlaces: [],
        seenFiles: new Map(),
        progress: (text) => void progress.push(text),
        ask: async () => undefined,
        ...changed,
      });
    },
    until: (is) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!is()) return;
          changes.delete(check);
          resolve();
        };
        changes.add(check);
        check();
      }),
  };
}
