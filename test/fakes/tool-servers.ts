import { z } from "zod";
import type { AccessClass } from "../../src/engine/permission.ts";
import type { ServerState } from "../../src/engine/servers/server-state.ts";
import type { OpenServers, ServersOfSession, ToolServers } from "../../src/engine/servers/tool-servers.ts";
import { defineTool, succeeded, type Tool } from "../../src/engine/tool.ts";

interface FakeTool {
  readonly server: string;
  readonly tool: string;
  readonly class?: AccessClass;
  /** Changes with the tool's definition. */
  readonly version?: number;
}

export interface FakeServers {
  readonly open: OpenServers;
  readonly opened: ServersOfSession[];
  /** Replaces what its sessions' servers do. */
  acts: Partial<Omit<ToolServers, "version" | "list" | "states" | "close">>;
  /** Sets the states, and tells all sessions. */
  change(changed: string, ...states: readonly ServerState[]): void;
  /** Calls that have run. */
  readonly ran: string[];
  readonly closed: string[];
  states: readonly ServerState[];
  set(...tools: readonly FakeTool[]): void;
  /** While set, `settled` waits for it. */
  connecting: Promise<void> | undefined;
}

/** Servers in memory: their tools return their names. */
export function createFakeServers(...first: readonly FakeTool[]): FakeServers {
  let tools: readonly Tool[] = [];
  let version = 0;
  const own: FakeServers = {
    opened: [],
    ran: [],
    closed: [],
    states: [],
    connecting: undefined,
    acts: {},
    change(changed, ...states) {
      own.states = states;
      for (const { tell } of own.opened) tell({ type: "servers.changed", servers: states, changed });
    },
    set(...now) {
      tools = now.map((each) => toolOf(each, own.ran));
      version += 1;
    },
    open: (session) => {
      own.opened.push(session);
      const servers: Omit<ToolServers, "version"> = {
        list: () => tools,
        states: () => own.states,
        inventory: () => [],
        prompts: () => [],
        promptsKnown: async () => undefined,
        promptText: async () => "",
        settled: async (signal) => {
          const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          await Promise.race([own.connecting, aborted]);
        },
        add: async () => undefined,
        remove: async () => false,
        setEnabled: async () => false,
        setToolEnabled: async () => false,
        signIn: async () => undefined,
        finishSignIn: async () => false,
        cancelSignIn: async () => false,
        forgetTokens: async () => false,
        ...own.acts,
        close: async () => void own.closed.push(session.sessionId),
      };
      return Object.defineProperty(servers, "version", { get: () => version }) as ToolServers;
    },
  };
  own.set(...first);
  return own;
}

function toolOf({ server, tool, class: kind = "high", version = 1 }: FakeTool, ran: string[]): Tool {
  const name = `${server}___${tool}`;
  const marks = { server, tool: `${name} ${version}` };
  const body = defineTool({
    input: z.unknown(),
    access: async () => [{ type: "server", server, tool, class: kind, marks }],
    run: async () => {
      ran.push(name);
      return succeeded(`${name} ran.`);
    },
  });
  const described = { title: name, description: `Does ${tool}.`, inputSchema: '{"type":"object"}' };
  return { name, kind: "execute", ...described, concurrent: false, load: async () => body };
}
