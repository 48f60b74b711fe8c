import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clientParams } from "../../src/protocol/droid/params.ts";
import { fromClient, fromServer } from "../fakes/rpc/published-examples.ts";
import type { Random } from "../fakes/seeded-random.ts";
import { mutateBytes, mutateJson } from "./mutate.ts";

/** Values that only the running program knows. */
export interface Known {
  readonly cwd: string;
  readonly sessionId: string;
  /** A request of the program, open or not. */
  readonly requestId: string;
}

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, root)), "utf8");

function linesOf(path: string): readonly unknown[] {
  return [...read(path).matchAll(/\{"(?:jsonrpc|type)":.*\}/g)].flatMap(([line]) => parsed(line) ?? []);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The documentation abbreviates its lines: the rest is not JSON, and useful as it is.
    return line;
  }
}

/** Messages of servers and of both sides in the documentation: a confused client can send any of them. */
const seen: readonly unknown[] = [
  ...readdirSync(fileURLToPath(new URL("test/golden/", root)), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "limit")
    .flatMap(({ name }) => linesOf(`test/golden/${name}/expected.stream-jsonrpc`)),
  ...linesOf("docs/stream-jsonrpc.md"),
  ...Object.values(fromServer),
  ...Object.values(fromClient),
];

type Ask = readonly [weight: number, method: string, params: unknown];

const filters = { enabledToolIds: ["Read"], disabledToolIds: ["grep", "apply-patch-cli"] };
const tags = [{ name: "ci", metadata: { run: "7" } }];
const mcpServers = [
  { name: "m", type: "stdio", command: "no", args: ["a"], env: { A: "b" } },
  { name: "n", url: "u" },
];
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const start = { machineId: "m", cwd: "<cwd>" };

const asks: readonly Ask[] = [
  [3, "initialize_session", { ...start, autonomyLevel: "off" }],
  [1, "initialize_session", { ...start, autonomyMode: "spec" }],
  [1, "initialize_session", { ...start, sessionId: "mine", autonomyLevel: "auto-low", tags, mcpServers, ...filters }],
  [1, "initialize_session", { ...start, systemPrompt: { type: "preset", preset: "droid", append: "Be brief." } }],
  [1, "initialize_session", { ...start, interactionMode: "auto", autoRejectPermissionRequests: true }],
  [2, "load_session", { sessionId: "<session>" }],
  [1, "load_session", { sessionId: "<session>", mcpServers, ...filters, autoRejectPermissionRequests: false }],
  [6, "add_user_message", { text: "Just reply OK." }],
  [2, "add_user_message", { text: "Once more.", messageId: "turn-1" }],
  [1, "add_user_message", { text: "", images: [{ type: "base64", mediaType: "image/png", data: pixel }] }],
  [1, "add_user_message", { text: "a", files: [{ type: "text", mediaType: "text/plain", data: "b", name: "c" }] }],
  [3, "update_session_settings", { autonomyLevel: "low", reasoningEffort: "high", specModeModelId: null, tags }],
  [1, "update_session_settings", { autonomyMode: "normal", specModeReasoningEffort: "low", ...filters }],
  [4, "interrupt_session", {}],
  [1, "close_session", { reason: "done" }],
  [1, "rename_session", { title: "A name" }],
  [1, "fork_session", { title: "A fork", tags }],
  [2, "get_context_stats", {}],
  [1, "list_tools", { ...filters, restrictToolIds: ["LS"], autonomyLevel: "high", skipPermissionsUnsafe: false }],
  [1, "list_models", { includeDisabled: true }],
  [1, "list_skills", {}],
  [1, "list_commands", {}],
];
const answers: readonly unknown[] = [
  { result: { selectedOption: "proceed_once" } },
  { result: { selectedOption: "proceed_always" } },
  { result: { selectedOption: "proceed_auto_run_low" } },
  { result: { selectedOption: "cancel", comment: "Rather not." } },
  { result: { cancelled: false, answers: [{ index: 1, question: "Which?", answer: "This" }] } },
  { result: { cancelled: true, answers: [] } },
  { error: { code: -32000, message: "Nobody is here." } },
];
const weighted = asks.flatMap((ask) => Array.from({ length: ask[0] }, () => ask));

const methods = [
  ...Object.keys(clientParams),
  ...["compact_session", "list_mcp_servers", "request_permission", "ask_user", "session_notification"].map(
    (name) => `droid.${name}`,
  ),
  ...["", "droid.", "initialize_session", "toString", "__proto__", "droid.__proto__", "rpc.discover", "ping"],
];
const types = ["request", "response", "notification", "Request", "error", "", null, 1, ["request"]];
const ids = ["", "root", "__proto__", 0, 1, -1, 1.5, 1e21, null, true, [], {}, ["1"], { id: "1" }, "x".repeat(500)];
const versions = ["2.0", "1.0.0", "1.15.0", "1.0", "", "99.0.0", null, 2, 1, {}];

/** A line as a client would send it, with unique names. */
function plain(random: Random, nth: number): unknown {
  const kind = random.below(20);
  if (kind < 3) {
    const line = random.pick(seen);
    return typeof line === "object" && random.chance(0.5) ? { ...line, id: `s${nth}` } : line;
  }
  const older = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
  const envelope = random.chance(0.5) ? { ...older, factoryProtocolVersion: "1.15.0" } : older;
  if (kind < 6) return { ...envelope, type: "response", id: "<request>", ...(random.pick(answers) as object) };
  const [, method, params] = random.pick(weighted);
  return { ...envelope, type: "request", id: `r${nth}`, method: `droid.${method}`, params };
}

/** The envelope contradicts the rules. */
function otherEnvelope(random: Random, message: object): object {
  const [key, value] = random.pick([
    ["type", random.pick(types)],
    ["id", random.pick(ids)],
    ["id", random.pick(ids)],
    ["method", random.pick(methods)],
    ["method", random.pick(methods)],
    ["jsonrpc", random.pick(versions)],
    ["factoryApiVersion", random.pick(versions)],
    ["factoryProtocolVersion", random.pick(versions)],
    [
      "_meta",
      random.pick([null, 1, "a", {}, { traceparent: 1 }, { traceparent: `00-${"0".repeat(32)}-${"1".repeat(16)}-01` }]),
    ],
    ["params", random.pick([null, 1, "a", [], {}, [{}], undefined])],
  ] as const);
  return { ...message, [key]: value };
}

function filled(text: string, { cwd, sessionId, requestId }: Known): string {
  return text.replaceAll("<cwd>", cwd).replaceAll("<session>", sessionId).replaceAll("<request>", requestId);
}

/** The `nth` line of a run; it ends with a line feed, and can contain more. */
export function lineFor(random: Random, nth: number, known: Known): Buffer {
  const message = plain(random, nth);
  const params = typeof message === "object" && message !== null && "params" in message ? message.params : undefined;
  const written = (value: unknown): Buffer =>
    Buffer.from(filled(typeof value === "string" ? value : JSON.stringify(value), known));
  const end = Buffer.from(random.chance(0.05) ? "\r\n" : "\n");
  const kind = random.below(100);
  if (kind < 20) return Buffer.concat([written(message), end]);
  if (kind < 22) return Buffer.concat([Buffer.from(random.pick(["", " ", "\t", "\uFEFF", "\r", "\u2028"])), end]);
  if (typeof message !== "object" || message === null || kind < 35)
    return Buffer.concat([mutateBytes(random, written(message)), end]);
  if (kind < 55) return Buffer.concat([written(otherEnvelope(random, message)), end]);
  if (kind < 80 && params !== undefined) {
    const inside = mutateJson(random, params);
    const around = JSON.stringify({ ...message, params: "<params>" });
    return Buffer.concat([
      Buffer.from(
        filled(
          around.replace('"<params>"', () => inside),
          known,
        ),
      ),
      end,
    ]);
  }
  if (kind < 95) return Buffer.concat([Buffer.from(filled(mutateJson(random, message), known)), end]);
  const whole = written(message);
  if (kind < 97) return Buffer.concat([whole, written(plain(random, nth)), end]);
  const at = random.below(whole.length);
  return Buffer.concat([whole.subarray(0, at), Buffer.from("\n"), whole.subarray(at), end]);
}
