import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CallbackOptions, openCallback } from "../../../src/mcp/sign-in/callback.ts";
import type { SignInAnswer } from "../../../src/mcp/sign-in/server.ts";
import { bundleForChild } from "../../fakes/bundle-for-child.ts";
import { startChild } from "../../store/child.ts";
import { tempHome } from "../../store/temp-home.ts";
import { listen } from "./world.ts";

async function open(options: Partial<CallbackOptions> = {}) {
  const taken: [state: string, answer: SignInAnswer][] = [];
  const take: CallbackOptions["take"] = (state, answer) => {
    taken.push([state, answer]);
    return state === "right" ? Promise.resolve({ outcome: "success", message: "Signed in." }) : undefined;
  };
  const callback = await openCallback({ take, ...options });
  onTestFinished(() => callback.close());
  return { ...callback, taken };
}

interface Asked {
  readonly host?: string;
  readonly method?: string;
  readonly path?: string;
}

function ask(uri: string, { host, method = "GET", path }: Asked = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      uri,
      { method, headers: host === undefined ? {} : { host }, ...(path === undefined ? {} : { path }) },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

describe("the callback server", () => {
  it("takes one kind of request, on one path, under its own names", async () => {
    const { uri, taken } = await open();
    const { port } = new URL(uri);
    const full = `${uri}?state=right&code=abc&iss=https%3A%2F%2Fauth.example`;
    expect([
      await ask(full, { host: "evil.example" }),
      await ask(full, { host: `evil.example:${port}` }),
      await ask(full, { method: "HEAD" }),
      await ask(full, { method: "POST" }),
      await ask(full.replace("/callback", "/other")),
      await ask(uri, { path: "//[" }),
      await ask(`${uri}?state=right`),
      await ask(`${uri}?code=abc`),
      await ask(`${uri}?state=right&code=a&code=b`),
      await ask(`${uri}?state=right&code=a&error=b`),
      taken,
    ]).toEqual([421, 421, 405, 405, 404, 404, 400, 400, 400, 400, []]);
    expect([
      await ask(`${uri}?state=wrong&code=a`),
      await ask(`${uri}?state=right&error=access_denied&error_description=No.`),
      await ask(full, { host: `localhost:${port}` }),
      taken,
    ]).toEqual([
      400,
      200,
      200,
      [
        ["wrong", { code: "a" }],
        ["right", { error: "access_denied", description: "No." }],
        ["right", { code: "abc", issuer: "https://auth.example" }],
      ],
    ]);
  });

  it("shows nothing of the request", async () => {
    const { uri } = await open();
    const page = await fetch(`${uri}?state=%3Cscript%3E&error=%3Cscript%3E&error_description=%3Cscript%3E`);
    expect([page.headers.get("content-security-policy"), await page.text()]).toEqual([
      "default-src 'none'; frame-ancestors 'none'",
      "Tinman is not waiting for this sign-in. Start it again.\n",
    ]);
  });

  it("uses the configured port or none, and the last port if it is free", async () => {
    const { origin, close } = await listen();
    onTestFinished(close);
    const port = Number(new URL(origin).port);
    await expect(open({ port })).rejects.toThrow(`port ${port} of this machine can't receive the answer: it is in use`);
    const other = await open({ lastPort: port });
    expect(new URL(other.uri).port).not.toBe(String(port));
    other.close();
    expect((await open({ lastPort: Number(new URL(other.uri).port) })).uri).toBe(other.uri);
  });

  it("does not keep the process alive", async () => {
    const folder = await tempHome();
    const file = await bundleForChild(fileURLToPath(new URL("callback-child.ts", import.meta.url)), folder);
    const child = startChild(file);
    expect([await child.nextLine(), await child.exitCode()]).toEqual([
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
      0,
    ]);
  });
});
