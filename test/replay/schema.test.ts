import { expect, test } from "vitest";
import type { Received } from "../fakes/rpc/wire.ts";
import { anyServerSchema } from "./any-server.ts";
import type { Run } from "./trace.ts";
import { clientMessages, readTrace, traceNames } from "./trace.ts";

/* Our schemas describe the protocol, not only our own messages: everything observed fits them. */

test.each(traceNames())("%s", (name) => {
  const faults = readTrace(name).runs.flatMap((run) => {
    const methods = methodsById(run);
    return run.steps.flatMap((step) => (step.by === "server" ? faultsOf(step.message, methods) : []));
  });
  expect(faults).toEqual([]);
});

test("reports a message that does not fit", () => {
  const message = { jsonrpc: "2.0", type: "response", id: "1", result: {} };
  expect(faultsOf(message, new Map([["1", "droid.interrupt_session"]]))).not.toEqual([]);
});

function methodsById({ steps }: Run): ReadonlyMap<unknown, string> {
  return new Map(clientMessages(steps).map(({ id, method }) => [id, String(method)]));
}

function faultsOf(message: Received, methods: ReadonlyMap<unknown, string>): readonly string[] {
  const schema = schemaOf(message, methods);
  if (schema === undefined) return [`No schema: ${methods.get(message.id)}`];
  const read = schema.safeParse(message);
  if (read.success) return [];
  return [`${JSON.stringify(read.error.issues)}\n  of ${JSON.stringify(message).slice(0, 1000)}`];
}

function schemaOf({ type, id, error }: Received, methods: ReadonlyMap<unknown, string>) {
  if (type === "notification" || type === "request") return anyServerSchema(type);
  return anyServerSchema(error === undefined ? "result" : "error", methods.get(id));
}
