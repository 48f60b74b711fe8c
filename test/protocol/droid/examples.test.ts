import { describe, expect, test } from "vitest";
import { z } from "zod";
import { streamJsonRpcSchema } from "../../../scripts/stream-jsonrpc-schema.ts";
import { check } from "../../../src/protocol/check.ts";
import { clientEnvelope } from "../../../src/protocol/droid/envelope.ts";
import { clientParams } from "../../../src/protocol/droid/params.ts";
import { clientResults } from "../../../src/protocol/droid/results.ts";
import {
  errorResponse,
  notificationEnvelope,
  resultResponse,
  serverRequest,
} from "../../../src/protocol/droid/server-envelope.ts";
import { askUserAnswer, permissionAnswer } from "../../../src/protocol/droid/server-requests.ts";
import { type Example, fromClient } from "../../fakes/rpc/published-examples.ts";
import type { ServerExample } from "./server-examples.ts";
import * as sentByServers from "./server-examples.ts";

const document = streamJsonRpcSchema();

/** The published schema of a definition. */
function published(name: string): z.ZodType {
  return z.fromJSONSchema({ ...document, anyOf: [{ $ref: `#/$defs/${name}` }] } as Parameters<
    typeof z.fromJSONSchema
  >[0]);
}

const anyOfClients = published("client");
const anyOfServers = published("server");

const requests: Readonly<Record<string, Example>> = {
  "initialize_session with everything": fromClient.initialize,
  "initialize_session of a script": fromClient.initializeOfScript,
  "initialize_session in spec mode": fromClient.initializeToPlan,
  load_session: fromClient.load,
  add_user_message: fromClient.addUserMessage,
  update_session_settings: fromClient.updateEffort,
  interrupt_session: fromClient.interrupt,
};

const permissionAnswers: Readonly<Record<string, Example>> = {
  proceed_once: fromClient.allowOnce,
  proceed_auto_run_low: fromClient.approvePlanLow,
  proceed_auto_run_medium: fromClient.approvePlanMedium,
  proceed_auto_run_high: fromClient.approvePlanHigh,
  cancel: fromClient.cancelPlan,
};

const questionAnswers: Readonly<Record<string, Example>> = {
  objects: fromClient.answerQuestion,
  "plain strings": fromClient.answerWithTexts,
};

describe("accepts client messages", () => {
  test.each(Object.entries(requests))("%s", (_name, request) => {
    expect(clientEnvelope.parse(request)).toEqual(request);
    const method = request.method as keyof typeof clientParams;
    expect(check<z.core.$ZodType>(clientParams[method], request.params)).toEqual({ ok: true, value: request.params });
    expect(published(`client.request.${method.slice("droid.".length)}`).parse(request)).toEqual(request);
  });

  test.each(Object.entries(permissionAnswers))("permission: %s", (_name, answer) => {
    expect(clientEnvelope.parse(answer)).toEqual(answer);
    expect(permissionAnswer.parse(answer.result)).toEqual(answer.result);
    expect(published("client.answer.request_permission").parse(answer)).toEqual(answer);
  });

  test.each(Object.entries(questionAnswers))("question: %s", (_name, answer) => {
    expect(clientEnvelope.parse(answer)).toEqual(answer);
    expect(askUserAnswer.parse(answer.result)).toEqual(answer.result);
    expect(anyOfClients.parse(answer)).toEqual(answer);
  });
});

const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };
const traced = { _meta: { traceparent: `00-${"0123456789abcdef".repeat(2)}-0123456789abcdef-01` } };

/** Adds the missing keys of `added` to the example. */
function merge(example: unknown, added: unknown): unknown {
  if (example === undefined) return added;
  if (Array.isArray(example))
    return example.map((one, index) => merge(one, Array.isArray(added) ? added[index] : undefined));
  if (typeof example !== "object" || example === null || typeof added !== "object" || added === null) return example;
  const keys = new Set([...Object.keys(example), ...Object.keys(added)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(Reflect.get(example, key), Reflect.get(added, key))]));
}

const sent = ({ example, added }: ServerExample, envelope: object): unknown =>
  merge(merge(example, envelope), added ?? {});

describe("accepts server messages", () => {
  test.each(Object.entries(sentByServers.results))("result of %s", (method, example) => {
    const whole = sent(example, versions);
    const schema = resultResponse<z.ZodType>(clientResults[method as keyof typeof clientResults]);
    expect(schema.parse(whole)).toEqual(whole);
    expect(published(`server.result.${method.slice("droid.".length)}`).parse(whole)).toEqual(whole);
  });

  test.each(Object.entries(sentByServers.errors))("error %s", (_name, example) => {
    const whole = sent(example, versions);
    expect(errorResponse.parse(whole)).toEqual(whole);
    expect(anyOfServers.parse(whole)).toEqual(whole);
  });

  test.each(Object.entries(sentByServers.serverRequests))("%s", (_name, example) => {
    const whole = sent(example, { ...versions, ...traced });
    expect(serverRequest.parse(whole)).toEqual(whole);
    expect(anyOfServers.parse(whole)).toEqual(whole);
  });

  test.each(Object.entries(sentByServers.notifications))("%s", (_name, example) => {
    const whole = sent(example, { ...versions, ...traced });
    expect(notificationEnvelope.parse(whole)).toEqual(whole);
    expect(anyOfServers.parse(whole)).toEqual(whole);
  });
});

test("rejects an incomplete message", () => {
  const { example } = sentByServers.notifications["create_message of the user"] as ServerExample;
  expect(notificationEnvelope.safeParse(sent({ example }, { ...versions, ...traced })).success).toBe(false);
  expect(anyOfServers.safeParse(sent({ example }, { ...versions, ...traced })).success).toBe(false);
});
