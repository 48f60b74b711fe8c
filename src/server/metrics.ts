import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Usage } from "../engine/message.ts";

const prefix = "tinman_";
const turnSeconds = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];
const firstChunkSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Interval at which the event loop is sampled. */
const resolutionMs = 20;

export type Metrics = ReturnType<typeof createMetrics>;
/** Counters for the parts that serve clients. */
export type Meter = Metrics["meter"];

export function createMetrics({ version }: { readonly version: string }) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: prefix + name, help, labelNames, registers });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: prefix + name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });

  const connections = new Gauge({
    name: `${prefix}connections`,
    help: "Open WebSocket connections.",
    labelNames: ["route"],
    registers,
  });
  const opened = counter("connections_total", "WebSocket connections opened.", ["route"]);
  const refused = counter("connections_refused_total", "Upgrades refused.", ["reason"]);
  const cut = counter("connections_cut_total", "Connections dropped by the server.", ["reason"]);
  const requests = counter("http_requests_total", "HTTP requests, including upgrades.", ["route", "code"]);
  const started = counter("sessions_started_total", "Sessions started.");
  const turns = counter("turns_total", "Turns ended.", ["outcome"]);
  const turnTime = new Histogram({
    name: `${prefix}turn_seconds`,
    help: "Duration of turns.",
    buckets: turnSeconds,
    registers,
  });
  const firstChunkTime = new Histogram({
    name: `${prefix}first_chunk_seconds`,
    help: "Time from a prompt to the first piece of its answer.",
    buckets: firstChunkSeconds,
    registers,
  });
  const tokens = counter("tokens_total", "Tokens, as counted by models.", ["kind"]);
  const errors = counter("errors_total", "Failures.", ["kind"]);
  const toolCalls = counter("tool_calls_total", "Tool calls ended.", ["status"]);

  const read = { sessions: () => 0, queued_messages: () => 0 };
  gauge("sessions", "Open sessions.", () => read.sessions());
  gauge("queued_messages", "Messages waiting for a turn.", () => read.queued_messages());

  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  // The histogram records the time between two samples, which is at least the interval.
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1e3) || 0;
  const late = "Event loop lag since the last scrape";
  gauge("event_loop_delay_p50_seconds", `${late}, median.`, () => seconds(delay.percentile(50)));
  gauge("event_loop_delay_p99_seconds", `${late}, 99th percentile.`, () => seconds(delay.percentile(99)));
  gauge("event_loop_delay_max_seconds", `${late}, maximum.`, () => seconds(delay.max));
  gauge("resident_memory_bytes", "Resident memory of this process.", () => process.memoryUsage.rss());
  gauge("start_time_seconds", "Start time of this process, in seconds since 1970.", () =>
    Math.round(Date.now() / 1_000 - process.uptime()),
  );
  new Gauge({ name: `${prefix}build_info`, help: "1.", labelNames: ["version", "node"], registers }).set(
    { version, node: process.version },
    1,
  );

  return {
    meter: {
      sessionStarted: () => started.inc(),
      turnEnded(outcome: string, took: number) {
        turns.inc({ outcome });
        turnTime.observe(took);
      },
      /** From a prompt to the first piece of its answer. */
      firstChunk: (took: number) => firstChunkTime.observe(took),
      tokens({ input, output, cacheRead, cacheWrite }: Usage) {
        tokens.inc({ kind: "input" }, input);
        tokens.inc({ kind: "output" }, output);
        tokens.inc({ kind: "cache_read" }, cacheRead);
        tokens.inc({ kind: "cache_write" }, cacheWrite);
      },
      toolCall: (status: string) => toolCalls.inc({ status }),
      error: (kind: string) => errors.inc({ kind }),
      /** `read` is called for each report and replaces the earlier one. */
      gauge(name: keyof typeof read, newRead: () => number) {
        read[name] = newRead;
      },
    },
    connectionOpened(route: string) {
      connections.inc({ route });
      opened.inc({ route });
    },
    connectionClosed: (route: string) => connections.dec({ route }),
    connectionRefused: (reason: string) => refused.inc({ reason }),
    /** The server disconnected a client. */
    connectionCut: (reason: string) => cut.inc({ reason }),
    request: (route: string, code: number) => requests.inc({ route, code }),
    /** All metrics in the Prometheus format. */
    async text(): Promise<{ readonly type: string; readonly body: string }> {
      const body = await registry.metrics();
      delay.reset();
      return { type: registry.contentType, body };
    },
    stop: () => void delay.disable(),
  };
}
