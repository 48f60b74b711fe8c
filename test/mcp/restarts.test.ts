import { describe, expect, it } from "vitest";
import type { ServerEntry } from "../../src/engine/servers/server-entry.ts";
import { FakeClock, until } from "../fakes/kit.ts";
import { type FakePrograms, fakePrograms } from "./fake-program.ts";
import { memorySources, type OpenSession, openSession } from "./sessions.ts";

const entry: ServerEntry = { kind: "stdio", command: "x", args: [], env: {} };
const echo = { name: "echo", inputSchema: { type: "object" } };

interface World {
  readonly clock: FakeClock;
  readonly programs: FakePrograms;
  readonly session: OpenSession;
  status(): string | undefined;
  becomes(status: string): Promise<void>;
}

function world(programs = fakePrograms([echo])): World {
  const clock = new FakeClock();
  const session = openSession({ clock, startProgram: programs.start, given: { x: entry } });
  const status = () => session.servers.states()[0]?.status;
  return { clock, programs, session, status, becomes: (wanted) => until(() => status() === wanted) };
}

describe("a server", () => {
  it("is waited for, but only for a while, and connects later", async () => {
    const programs = fakePrograms([echo]);
    const { initialize } = programs.answers;
    let answer = (): void => undefined;
    programs.answers.initialize = async (params) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return initialize?.(params);
    };
    const { clock, session, status, becomes } = world(programs);
    let isSettled = false;
    const settled = session.settled().then(() => {
      isSettled = true;
    });
    await until(() => programs.heard.length === 1);
    clock.advance(9_999);
    await Promise.resolve();
    expect(isSettled).toBe(false);
    clock.advance(1);
    await settled;
    expect([status(), session.servers.list()]).toEqual(["connecting", []]);
    answer();
    await becomes("connected");
    expect(session.servers.list().map(({ name }) => name)).toEqual(["x___echo"]);
  });

  it("that never answers fails after 30 seconds, and is tried again", async () => {
    const programs = fakePrograms();
    delete programs.answers.initialize;
    const { clock, session, status, becomes } = world(programs);
    await until(() => programs.heard.length === 1);
    clock.advance(30_000);
    await becomes("failed");
    expect(session.servers.states()).toMatchObject([{ error: "The server did not answer within 30 s." }]);
    expect(programs.starts).toBe(1);
    clock.advance(1_000);
    expect(status()).toBe("connecting");
  });

  it("that ends is restarted after 1, 2, 4 and 8 seconds, then not until it is used", async () => {
    const { clock, programs, session, becomes } = world();
    await becomes("connected");
    for (const [at, delay] of [1_000, 2_000, 4_000, 8_000].entries()) {
      programs.crash(7);
      await becomes("disconnected");
      clock.advance(delay - 1);
      expect([at, programs.starts]).toEqual([at, at + 1]);
      clock.advance(1);
      await becomes("connected");
    }
    programs.crash(7);
    await becomes("failed");
    expect(session.servers.states()).toMatchObject([
      { error: "The server's program exited with code 7. It failed 5 times in a row." },
    ]);
    clock.advance(1_000_000);
    expect(programs.starts).toBe(5);

    programs.answers["tools/call"] = () => ({ content: [{ type: "text", text: "ok" }] });
    expect(await session.call("x___echo")).toEqual({ status: "ok", text: "ok" });
    expect(programs.starts).toBe(6);
  });

  it("that held for a minute starts with one second again", async () => {
    const { clock, programs, becomes } = world();
    for (const delay of [1_000, 2_000]) {
      await becomes("connected");
      programs.crash();
      await becomes("disconnected");
      clock.advance(delay);
    }
    await becomes("connected");
    clock.advance(60_000);
    programs.crash();
    await becomes("disconnected");
    clock.advance(1_000);
    await becomes("connected");
  });

  it("leaves no timer and no program behind when it closes while it connects", async () => {
    const programs = fakePrograms();
    delete programs.answers.initialize;
    const { clock, session } = world(programs);
    await until(() => programs.heard.length === 1);
    await session.servers.close();
    expect(clock.waiting).toBe(0);
    await session.settled();
  });
});

describe("a session's servers", () => {
  it("can be added, switched off and on, and removed while it runs", async () => {
    const programs = fakePrograms([echo]);
    const sources = memorySources();
    const session = openSession({ startProgram: programs.start, sources });
    await session.settled();
    const { servers } = session;
    const told = () => session.events.map((event) => (event.type === "servers.changed" ? event.servers : event));
    expect([servers.states(), servers.version]).toEqual([[], 0]);

    await servers.add({ name: "x", entry });
    await session.settled();
    expect(servers.list().map(({ name }) => name)).toEqual(["x___echo"]);
    const common = { name: "x", source: "user", kind: "stdio" };
    const connected = { ...common, status: "connected", toolCount: 1 };
    expect(told()).toEqual([[{ ...common, status: "connecting" }], [connected]]);

    expect(await servers.setToolEnabled("x", "echo", false)).toBe(true);
    expect([servers.list(), servers.inventory()]).toMatchObject([[], [{ name: "echo", isEnabled: false }]]);
    expect(await servers.setToolEnabled("x", "missing", false)).toBe(false);
    expect(await servers.setToolEnabled("x", "echo", true)).toBe(true);

    expect(await servers.setEnabled("x", false)).toBe(true);
    expect(servers.states()).toEqual([{ ...common, status: "disabled" }]);
    expect(servers.list()).toEqual([]);
    expect(await servers.setEnabled("x", true)).toBe(true);
    await session.settled();
    expect(servers.states()).toEqual([connected]);

    expect([await servers.remove("x"), await servers.remove("x")]).toEqual([true, false]);
    expect([servers.states(), servers.list(), told().at(-1)]).toEqual([[], [], []]);
  });

  it("of the client win over the user's, with a notice", async () => {
    const programs = fakePrograms([echo]);
    const sources = memorySources(
      { name: "x", entry, source: "user" },
      { name: "off", entry: { ...entry, isDisabled: true }, source: "user" },
      { name: "theirs", entry, source: "project", isUntrusted: true },
    );
    const session = openSession({ startProgram: programs.start, sources, given: { x: entry, "bad/name": entry } });
    await session.settled();
    expect(session.servers.states()).toMatchObject([
      { name: "off", status: "disabled", source: "user" },
      {
        name: "theirs",
        status: "disabled",
        source: "project",
        error: expect.stringContaining("tinman mcp trust theirs"),
      },
      { name: "x", status: "connected", source: "client" },
    ]);
    expect(session.events.flatMap((event) => (event.type === "notice" ? [event.text] : []))).toEqual([
      "A server of the client was left out, because its name can only have letters, digits, dots, - and _.",
      "The client's server x replaces yours in this session.",
    ]);
    expect(programs.starts).toBe(1);
  });
});
