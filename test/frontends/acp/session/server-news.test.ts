import type { CreateElicitationRequest, CreateElicitationResponse } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { deferred } from "../../../../src/async/promises.ts";
import type { Client } from "../../../../src/frontends/acp/client.ts";
import { createServerNews } from "../../../../src/frontends/acp/session/server-news.ts";
import type { McpServerState } from "../../../../src/sdk/types.ts";

const url = "https://a.example/authorize?state=s_1&x=<b>";
const required = { type: "sign_in_required", server: "linear", url, message: "", state: "s-1" } as const;
const ended = { type: "sign_in_ended", server: "linear", outcome: "success", message: "" } as const;

function news(opens: boolean) {
  const told: (readonly (string | undefined)[])[] = [];
  const asked: CreateElicitationRequest[] = [];
  const answer = deferred<CreateElicitationResponse>();
  const client: Client = {
    capabilities: opens ? { elicitation: { url: {} } } : {},
    update: async () => undefined,
    choose: async () => undefined,
    elicit: (request) => {
      asked.push(request);
      return answer.promise;
    },
    completed: (id) => void told.push(["completed", id]),
  };
  const own = createServerNews({
    client,
    sessionId: "s",
    notice: (...notice) => void told.push(notice),
    cancelSignIn: async (server) => void told.push(["cancelled", server]),
  });
  return { own, told, asked, answer };
}

test("each failure is told once, until the server has another state", () => {
  const { own, told } = news(false);
  const failed = (error: string): McpServerState => ({
    name: "files",
    type: "stdio",
    source: "dynamic",
    status: "failed",
    error,
  });
  const other: McpServerState = { ...failed(""), name: "other", status: "connected" };
  for (const servers of [
    [failed("It\nis gone.")],
    [failed("It\nis gone."), other],
    [failed("It came back and went.")],
    [{ ...failed(""), status: "connecting" }],
    [failed("It came back and went.")],
  ]) {
    own.changed({ type: "mcp_servers", servers });
  }
  expect(told).toEqual([
    ["warning", "The MCP server files cannot be used: It is gone."],
    ["warning", "The MCP server files cannot be used: It came back and went."],
    ["warning", "The MCP server files cannot be used: It came back and went."],
  ]);
});

test("a sign-in is a notice with a link that shows nothing else, and so is its end", () => {
  const { own, told, asked } = news(false);
  own.signInRequired(required);
  own.signInRequired({ ...required, url: "javascript:alert(1)" });
  own.signInEnded(ended);
  own.signInEnded({ ...ended, outcome: "failed", message: "The server said no." });
  expect(asked).toEqual([]);
  expect(told).toEqual([
    ["info", "The MCP server linear needs you to sign in.", "<https://a.example/authorize?state=s_1&x=%3Cb%3E>"],
    ["info", "The MCP server linear needs you to sign in.", "javascript:alert(1)"],
    ["info", "Signed in to the MCP server linear."],
    ["warning", "Not signed in to the MCP server linear: The server said no."],
  ]);
});

test("a client that opens addresses is asked to, and learns of the end", async () => {
  const { own, told, asked, answer } = news(true);
  own.signInRequired(required);
  expect(asked).toEqual([
    {
      mode: "url",
      sessionId: "s",
      elicitationId: "s-1",
      url,
      message: "The MCP server linear needs you to sign in.",
    },
  ]);
  answer.resolve({ action: "accept" });
  await answer.promise;
  own.signInEnded(ended);
  expect(told).toEqual([
    ["completed", "s-1"],
    ["info", "Signed in to the MCP server linear."],
  ]);
});

test("only web addresses are opened", () => {
  const { own, told, asked } = news(true);
  own.signInRequired({ ...required, url: "file:///etc/passwd" });
  expect([asked.length, told.length]).toEqual([0, 1]);
});

test("a user who does not want to sign in cancels it; a client that cannot ask shows the link", async () => {
  const declined = news(true);
  declined.own.signInRequired(required);
  declined.answer.resolve({ action: "decline" });
  await declined.answer.promise;
  await Promise.resolve();
  expect(declined.told).toEqual([["cancelled", "linear"]]);

  const broken = news(true);
  broken.own.signInRequired(required);
  broken.answer.reject(new Error("Unknown method."));
  await broken.answer.promise.catch(() => undefined);
  await Promise.resolve();
  await Promise.resolve();
  expect(broken.told[0]?.[2]).toContain("https://a.example");
});
