import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { createBench } from "../tinman.ts";
import { startServer, tokens, users } from "./server.ts";

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s right after the first line stops it in order",
  async (signal) => {
    const bench = await createBench();
    onTestFinished(() => bench.remove());
    const server = bench.start(["serve", "--port", "0", "--no-auth", "--log-level", "off"]);
    const ended = once(server, "exit");
    if (server.stdout === null) throw new Error("the server has no output");
    server.stdout.once("data", () => server.kill(signal));
    expect(await ended).toEqual([0, null]);
  },
);

test("always reports that no token is required", async () => {
  const bench = await createBench();
  onTestFinished(() => bench.remove());
  const server = bench.start(["serve", "--port", "0", "--no-auth", "--log-level", "off"]);
  const ended = once(server, "exit");
  if (server.stdout === null) throw new Error("the server has no output");
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  server.kill();
  await ended;
  expect(line).toMatch(/^tinman serve: listening on http:\S+ - API ws:\S+ - NO TOKEN REQUIRED$/);
});

test("no signal opens a debugger, which needs no token", async () => {
  const server = await startServer();
  onTestFinished(() => server.remove());
  server.process.kill("SIGUSR1");
  expect(await server.logged(({ event }) => event === "process.warning")).toMatchObject({ level: "warn" });
  expect((await server.get("/healthz")).code).toBe(200);
});

test("sessions of a former admin are closed, with everything that only admins can have", async () => {
  const admins = users.map((user) => ({ ...user, role: "admin" }));
  const server = await startServer({ auth: true, config: { serve: { users: admins } } });
  onTestFinished(() => server.remove());
  const client = await server.connect(tokens.ann);
  await client.start();
  expect(await server.metric("sessions")).toBe(1);
  const file = join(server.bench.home, ".tinman", "config.yaml");
  await writeFile(file, JSON.stringify({ serve: { users } }));
  await server.logged(({ event, user }) => event === "token.revoked" && user === "ann");
  while ((await server.metric("sessions")) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
});

test("a user's running and waiting work ends with their last token", async () => {
  const replies = [
    {
      when: { user: "make" },
      times: "any",
      tool_calls: [
        { name: "Execute", input: { command: "sleep 20; touch made", riskLevel: "low", riskLevelReason: "-" } },
      ],
    },
  ];
  const interactive = { toolExecution: "server", autonomy: "high" };
  const server = await startServer({ replies, auth: true, config: { serve: { users }, interactive } });
  onTestFinished(() => server.remove());
  const client = await server.connect(tokens.ann);
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "make it" });
  await client.request("sendUserMessage", { sessionId, message: "make another" });
  await client.until(({ method }) => method === "ToolCallNotification");
  const file = join(server.bench.home, ".tinman", "config.yaml");
  const config = JSON.parse(await readFile(file, "utf8")) as { serve: { users: { name: string }[] } };
  config.serve.users = config.serve.users.filter(({ name }) => name !== "ann");
  await writeFile(file, JSON.stringify(config));
  await server.logged(({ event, reason }) => event === "turn.ended" && reason === "interrupted");
  const { queued_messages: waiting } = { queued_messages: await server.metric("queued_messages") };
  expect([waiting, await server.metric('turns_total{outcome="interrupted"}')]).toEqual([0, 1]);
});
