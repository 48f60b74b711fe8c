import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../docs/blocks.ts";
import type { Bench, Finished } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { createOpenAIChatServer } from "../fakes/providers/openai-chat-server.ts";
import { isFullRun } from "../full-run.ts";
import { pythonPath } from "./python.ts";

/** A workspace and a home for each test, because they run in parallel. */
const inBench = (test: (bench: Bench) => Promise<void>) => async (): Promise<void> => {
  const bench = await createBench();
  try {
    await test(bench);
  } finally {
    await bench.remove();
  }
};

interface How {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Both do exactly the same: the short run runs Python only where a page shows it. */
const languages = [
  { language: "Node.js", ending: "mjs", block: "js", program: () => process.execPath },
  ...(isFullRun ? [{ language: "Python", ending: "py", block: "python", program: pythonPath }] : []),
];

/** The offline model's text after its question was cancelled. */
const unanswered = 'I could not ask you "Which colour do you want?": User cancelled AskUser\n';

/** In the workspace, with `tinman` on the PATH. */
function run(bench: Bench, command: readonly string[], { stdin, env }: How = {}): Promise<Finished> {
  const words = command.map((word) => `'${word}'`).join(" ");
  return bench.shell(words, { ...(env && { env }), ...(stdin !== undefined && { stdin }) });
}

describe.concurrent.each(languages)("in $language", ({ ending, block, program }) => {
  const example = (bench: Bench, name: string, args: readonly string[] = [], how: How = {}): Promise<Finished> =>
    run(bench, [program(), resolve(`examples/${name}.${ending}`), ...args], how);
  const request = (id: string, method: string, params: object) =>
    JSON.stringify({ jsonrpc: "2.0", factoryApiVersion: "1.0.0", type: "request", id, method, params });

  it(
    "trace records every line in both directions, and changes none",
    inBench(async (bench) => {
      const sent = [
        request("1", "droid.initialize_session", { machineId: "m", cwd: bench.cwd, autonomyLevel: "off" }),
        request("2", "droid.add_user_message", { text: "Just reply \u2028 ÄÖ 你好." }),
        "nonsense",
      ];
      const { code, stdout, stderr } = await example(bench, "trace", ["wire.txt"], { stdin: sent.join("\n") });
      expect([code, stderr]).toEqual([0, ""]);
      const lines = (await bench.read("wire.txt")).trimEnd().split("\n");
      const parts = lines.map((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ([<>!]) (.*)$/s.exec(line));
      const by = (mark: string) => parts.flatMap((part) => (part?.[1] === mark ? [part[2]] : []));
      expect(by(">")).toEqual(sent);
      expect(by("<")).toEqual(stdout.trimEnd().split("\n"));
      expect(by("<").filter((line) => line?.includes('"newState":"idle"')).length).toBe(1);
      expect(by("!")).toEqual([
        "start tinman exec --input-format stream-jsonrpc --output-format stream-jsonrpc",
        "exit 0",
      ]);
    }),
  );

  it(
    "trace runs any command, and exits as it does",
    inBench(async (bench) => {
      const { code, stdout } = await example(bench, "trace", ["wire.txt", "sh", "-c", "cat; exit 7"], {
        stdin: "one\ntwo\n",
      });
      expect([code, stdout]).toEqual([7, "one\ntwo\n"]);
      expect((await bench.read("wire.txt")).replace(/^\S+ /gm, "")).toBe(
        "! start sh -c cat; exit 7\n> one\n> two\n< one\n< two\n! exit 7\n",
      );
    }),
  );

  it(
    "resume remembers across two processes",
    inBench(async (bench) => {
      const { code, stdout, stderr } = await example(bench, "resume", ["tinman"]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout.replace(/[0-9a-f-]{36}/, "<id>")).toBe(
        "sessionId <id>\nturn 1: OK\nload_session -> 2 history messages\nturn 2: DOLPHIN-2288\nRESULT: SUCCESS\n",
      );
    }),
  );

  it(
    "two-keys continues a session under another key",
    inBench(async (bench) => {
      const server = await createOpenAIChatServer({ key: undefined, models: ["model-1"] });
      try {
        const entry = { id: "mine", provider: "openai-compatible", model: "model-1", baseUrl: server.url };
        const config = { models: { default: "mine", entries: [{ ...entry, apiKey: "$" + "{TEAM_KEY}" }] } };
        await mkdir(join(bench.home, ".tinman"));
        await writeFile(join(bench.home, ".tinman", "config.yaml"), JSON.stringify(config));
        server.enqueue({ text: ["OK"] });
        const env = { KEY1: "key-one", KEY2: "key-two", KEY_VARIABLE: "TEAM_KEY" };
        const running = example(bench, "two-keys", [], { env });
        await server.until(() => server.requests.length > 0);
        const token = /TOKEN-\w+/.exec(server.requests[0]?.rawBody ?? "")?.[0] ?? "";
        server.enqueue({ text: [token] });
        const { code, stdout, stderr } = await running;
        expect([code, stderr]).toEqual([0, ""]);
        expect(stdout.replace(/[0-9a-f-]{36}/, "<id>")).toBe(
          "turn1.sessionId <id>\nturn2.load_session.ok true\ntoken.found_in_turn2 True\n",
        );
        expect(server.requests.map(({ headers, rawBody }) => [headers.authorization, rawBody.includes(token)])).toEqual(
          [
            ["Bearer key-one", true],
            ["Bearer key-two", true],
          ],
        );
      } finally {
        await server.close();
      }
    }),
  );

  it(
    "two-keys requires two keys",
    inBench(async (bench) => {
      expect(await example(bench, "two-keys")).toMatchObject({ code: 2, stdout: "", stderr: "Set KEY1 and KEY2.\n" });
    }),
  );

  it(
    "permission follows the person's answer",
    inBench(async (bench) => {
      const asked = `I'll create hello.txt.\n\n> Create ${bench.cwd}/hello.txt\nHello!\n`;
      const no = await example(bench, "permission", ["--no"]);
      expect([no.code, no.stdout]).toEqual([1, `${asked}turn ended: permission_rejected\n`]);
      expect(readdirSync(bench.cwd)).toEqual([]);
      const typed = await example(bench, "permission", [], { stdin: "1\n" });
      expect([typed.code, typed.stdout]).toEqual([
        0,
        `${asked}  1. Yes, allow\n  2. Yes, and always allow low impact commands (file edits and read-only commands)\n` +
          "  3. No, cancel\nI created hello.txt.\nturn ended: completed\n",
      ]);
      const yes = await example(bench, "permission", ["--yes", "tinman", "run `touch b.txt`"]);
      expect([yes.code, yes.stdout.includes("> touch b.txt  (medium impact)\n")]).toEqual([0, true]);
      expect(readdirSync(bench.cwd)).toEqual(["b.txt", "hello.txt"]);
    }),
  );

  it(
    "question answers the questions",
    inBench(async (bench) => {
      const asked = "I'll ask you.\n\n[Colour] Which colour do you want? red / blue\n";
      const [given, typed] = await Promise.all([
        example(bench, "question", ["tinman", "red"]),
        example(bench, "question", [], { stdin: "blue\n" }),
      ]);
      expect([given.code, given.stdout]).toEqual([0, `${asked}Your answer: red\n`]);
      expect([typed.code, typed.stdout]).toEqual([0, `${asked}Your answer: blue\n`]);
    }),
  );

  it(
    "a missing program is one clear failure",
    inBench(async (bench) => {
      for (const name of ["resume", "permission", "question"]) {
        const { code, stderr } = await example(bench, name, ["./not-there"], { stdin: "" });
        expect([code, stderr.trimEnd().split("\n").length, stderr.includes("not-there")]).toEqual([1, 1, true]);
      }
    }),
  );

  it(
    "examples decline other requests",
    inBench(async (bench) => {
      const ask = "ask me which colour I want: red or blue";
      const call = { tool_calls: [{ name: "Create", input: { file_path: "a.txt", content: "a" } }] };
      const creates = async (): Promise<How> => ({ env: { TINMAN_MODEL: await bench.script([call]) } });
      const [asked, ...permitted] = await Promise.all([
        example(bench, "permission", ["--yes", "tinman", ask]),
        example(bench, "question", [], await creates()),
        example(bench, "resume", [], await creates()),
      ]);
      expect([asked.code, asked.stdout, asked.stderr]).toEqual([
        0,
        `I'll ask you.\n${unanswered}turn ended: completed\n`,
        "",
      ]);
      for (const { code, stderr } of permitted) {
        expect([code, stderr]).toEqual([1, "turn ended: permission_rejected\n"]);
      }
      expect(readdirSync(bench.cwd)).toEqual([]);
    }),
  );

  it(
    "reports why a turn failed",
    inBench(async (bench) => {
      const env = { TINMAN_MODEL: "gpt-5.1", KEY1: "key-one", KEY2: "key-two" };
      const names = ["permission", "question", "resume", "two-keys"];
      const failed = await Promise.all(names.map((name) => example(bench, name, [], { env })));
      for (const { code, stderr } of failed) {
        expect([code, stderr.split("\n")[0]]).toEqual([1, "No key for OpenAI. Set OPENAI_API_KEY."]);
      }
    }),
  );

  describe.concurrent("the page's client", () => {
    const client = async (bench: Bench, args: readonly string[] = [], how: How = {}): Promise<Finished> => {
      const page = blocksOf("", readFileSync("docs/stream-jsonrpc.md", "utf8"));
      const clients = page.filter(({ language }) => language === block);
      expect(clients.map(({ text }) => text.trimEnd().split("\n").length <= 40)).toEqual([true]);
      const file = join(bench.root, `client.${ending}`);
      await writeFile(file, clients[0]?.text ?? "");
      return run(bench, [program(), file, ...args], how);
    };

    it(
      "allows one call and prints the text",
      inBench(async (bench) => {
        const { code, stdout, stderr } = await client(bench);
        expect([code, stderr]).toEqual([0, ""]);
        expect(stdout).toBe("I'll create hello.txt.\n(allowing Create)\nI created hello.txt.\n(completed)\n");
        expect(await readFile(join(bench.cwd, "hello.txt"), "utf8")).toBe("Hello!");
      }),
    );

    it(
      "does not hang on a question",
      inBench(async (bench) => {
        const { code, stdout, stderr } = await client(bench, ["ask me which colour I want: red or blue"]);
        expect([code, stdout, stderr]).toEqual([0, `I'll ask you.\n${unanswered}(completed)\n`, ""]);
      }),
    );

    it(
      "prints why a turn failed",
      inBench(async (bench) => {
        const { code, stdout, stderr } = await client(bench, [], { env: { TINMAN_MODEL: "gpt-5.1" } });
        const why = "No key for OpenAI. Set OPENAI_API_KEY.\n";
        expect([code, stdout, stderr]).toEqual([1, "(model_authentication_failed)\n", why]);
      }),
    );

    it(
      "prints why there is no session",
      inBench(async (bench) => {
        const home = { TINMAN_HOME: await bench.file("not-a-folder", "") };
        const { code, stdout, stderr } = await client(bench, [], { env: home });
        const reason = stderr.trimEnd().split("\n");
        expect([code, stdout, reason.length, reason[0]?.includes("not-a-folder")]).toEqual([1, "", 1, true]);
      }),
    );
  });

  it("no example is longer than 80 lines", () => {
    const files = readdirSync("examples").filter((name) => name.endsWith(`.${ending}`));
    expect(files.map((name) => name.replace(/\.\w+$/, ""))).toEqual([
      "permission",
      "question",
      "resume",
      "trace",
      "two-keys",
    ]);
    const lengths = files.map((name) => readFileSync(join("examples", name), "utf8").trimEnd().split("\n").length);
    expect(lengths.filter((length) => length > 80)).toEqual([]);
  });
});
