import { expect, onTestFinished, test } from "vitest";
import { createMetrics } from "../../src/server/metrics.ts";
import { bearer, closeOf, serve, until, upgradeCode } from "./served.ts";

/** Samples by name and labels, without those that vary. */
function samples(text: string): Readonly<Record<string, number>> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const all = lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]);
  return Object.fromEntries(all) as Record<string, number>;
}

test("all metrics exist from the start, in Prometheus' format", async () => {
  const metrics = createMetrics({ version: "1.2.3" });
  onTestFinished(metrics.stop);
  const { meter } = metrics;
  meter.sessionStarted();
  meter.turnEnded("completed", 0.2);
  meter.turnEnded("failed", 2_000);
  meter.firstChunk(0.02);
  meter.tokens({ input: 10, output: 5, cacheRead: 3, cacheWrite: 2, thinking: 1 });
  meter.tokens({ input: 1, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 });
  meter.toolCall("ok");
  meter.error("model_failed");
  meter.gauge("sessions", () => 7);
  meter.gauge("queued_messages", () => 8);
  const { type, body } = await metrics.text();
  expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");
  const found = samples(body);
  expect(found).toMatchObject({
    tinman_sessions: 7,
    tinman_sessions_started_total: 1,
    'tinman_turns_total{outcome="completed"}': 1,
    'tinman_turns_total{outcome="failed"}': 1,
    'tinman_turn_seconds_bucket{le="0.1"}': 0,
    'tinman_turn_seconds_bucket{le="0.5"}': 1,
    'tinman_turn_seconds_bucket{le="+Inf"}': 2,
    tinman_turn_seconds_count: 2,
    'tinman_first_chunk_seconds_bucket{le="0.01"}': 0,
    'tinman_first_chunk_seconds_bucket{le="0.025"}': 1,
    'tinman_tokens_total{kind="input"}': 11,
    'tinman_tokens_total{kind="output"}': 5,
    'tinman_tokens_total{kind="cache_read"}': 3,
    'tinman_tokens_total{kind="cache_write"}': 2,
    'tinman_errors_total{kind="model_failed"}': 1,
    'tinman_tool_calls_total{status="ok"}': 1,
    tinman_queued_messages: 8,
    [`tinman_build_info{version="1.2.3",node="${process.version}"}`]: 1,
  });
  expect(found.tinman_resident_memory_bytes).toBeGreaterThan(1e6);
  expect(found.tinman_start_time_seconds).toBeGreaterThan(1e9);
});

test("event loop lag is reported once", async () => {
  const metrics = createMetrics({ version: "1" });
  onTestFinished(metrics.stop);
  await new Promise((resolve) => setTimeout(resolve, 60));
  const end = performance.now() + 250;
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 60));
  const { tinman_event_loop_delay_max_seconds: late = 0 } = samples((await metrics.text()).body);
  expect(late).toBeGreaterThan(0.2);
  const names = Object.keys(samples((await metrics.text()).body)).filter((name) => name.includes("event_loop"));
  expect(names).toEqual([
    "tinman_event_loop_delay_p50_seconds",
    "tinman_event_loop_delay_p99_seconds",
    "tinman_event_loop_delay_max_seconds",
  ]);
});

test("connections and requests are counted by route and outcome", async () => {
  const served = await serve();
  const headers = bearer(served.token);
  const socket = await served.open("/ws");
  await served.open("/rpc");
  const closed = closeOf(socket);
  socket.close();
  await closed;
  await upgradeCode(served, "/ws", {});
  await upgradeCode(served, "/nothing", headers);
  await upgradeCode(served, "/ws", { ...headers, Host: "evil.example" });
  await upgradeCode(served, "/ws", { ...headers, Origin: "http://evil.example" });
  await served.ask("/nothing", { headers });
  await served.ask("/healthz", { headers });
  await until(() => served.seen[0]?.calls.includes("closed") === true);
  const found = samples((await served.ask("/metrics", { headers })).body);
  const wanted = Object.entries(found).filter(([name]) => /connections|http_requests/.test(name));
  expect(Object.fromEntries(wanted)).toEqual({
    'tinman_connections{route="/ws"}': 0,
    'tinman_connections{route="/rpc"}': 1,
    'tinman_connections_total{route="/ws"}': 1,
    'tinman_connections_total{route="/rpc"}': 1,
    'tinman_connections_refused_total{reason="token"}': 1,
    'tinman_connections_refused_total{reason="path"}': 1,
    'tinman_connections_refused_total{reason="host"}': 1,
    'tinman_connections_refused_total{reason="origin"}': 1,
    'tinman_http_requests_total{route="/ws",code="101"}': 1,
    'tinman_http_requests_total{route="/rpc",code="101"}': 1,
    'tinman_http_requests_total{route="other",code="401"}': 1,
    'tinman_http_requests_total{route="other",code="404"}': 2,
    'tinman_http_requests_total{route="other",code="403"}': 2,
    'tinman_http_requests_total{route="/healthz",code="200"}': 1,
  });
});
