import { afterAll, expect, test } from "vitest";
import { cases, createEverydayWorld, type EverydayClass } from "./everyday-world.ts";

const world = createEverydayWorld();
afterAll(() => world.remove());

/** A command's class; `protected` for anything asked about at every level. */
async function classOf(command: string): Promise<EverydayClass> {
  const decision = await world.decisionOn(command, { autonomy: "high" });
  if (decision.verdict === "allow") return decision.class;
  return decision.rule === "catastrophic" ? "catastrophic" : "protected";
}

/** Commands classed higher than the engineer's judgement, and why. */
const stricter: Readonly<Record<string, string>> = {
  "systemctl status nginx --no-pager": "the system's records are outside the workspace",
  'git ls-files \'src/*.ts\' | while read -r f; do echo "$f: $(wc -l < "$f")"; done':
    "the values that read sets are not tracked",
  "python3 --version; cargo --version; go version": "a repository can choose the toolchain that answers",
  "docker ps --format '{{.Names}} {{.Status}}'": "the daemon may be on another machine",
  'sqlite3 -readonly local.db "SELECT count(*) FROM users;"': "SQL can call functions that write files",
  'for f in src/*.ts; do cp "$f" "$f.orig"; done': "names built from a pattern are not tracked",
  "chmod +x scripts/build.sh": "permissions are not content",
  "tar -czf docs.tar.gz docs/": "archives are medium in both directions",
  "gzip -k data.json": "without -k it would delete the file",
  "aws s3 ls s3://my-bucket/releases/": "cloud calls are not known",
  "terraform plan -no-color | tail -40": "a plan runs programs named in the configuration",
};

test("has 230 commands with reasons, without duplicates", () => {
  expect(cases.length).toBe(230);
  expect(new Set(cases.map(({ command }) => command)).size).toBe(230);
  expect(cases.filter(({ reason }) => reason.trim() === "" || reason.includes("\n"))).toEqual([]);
});

test("classes no everyday command too low, and at most 20 too high", async () => {
  const order: readonly EverydayClass[] = ["read", "low", "medium", "high", "protected"];
  const rank = (one: EverydayClass) => order.indexOf(one === "catastrophic" ? "protected" : one);
  const judged = [];
  for (const { command, class: wanted } of cases) judged.push({ command, wanted, got: await classOf(command) });
  expect(judged.filter(({ wanted, got }) => rank(got) < rank(wanted))).toEqual([]);
  const more = judged.filter(({ wanted, got }) => rank(got) > rank(wanted)).map(({ command }) => command);
  expect(more).toEqual(Object.keys(stricter));
  expect(more.length).toBeLessThanOrEqual(20);
});

/** What the sandbox does not help with, by the rule of the decision. */
const leaving: Readonly<Record<string, number>> = {
  // Publishes, uses other machines and services, or ends processes.
  ...{
    "row git push": 4,
    "row scp": 1,
    "row ssh": 1,
    "row npm publish": 1,
    "row gh": 1,
    "row aws": 1,
    "row docker": 3,
  },
  ...{ "row kubectl": 1, "row terraform": 1, "row curl": 1, "row kill": 2, "other-user": 2 },
  // Runs what it downloads.
  "unknown-script": 1,
  // Destroys what git cannot restore.
  ...{ "row git reset": 1, "row git clean": 2, "unknown-use": 1, delete: 4 },
};

test("in the sandbox, medium is enough for all but 2 of the commands that neither leave it nor destroy anything", async () => {
  const sandbox = { isRequired: false, temp: "/tmp/t", hasServers: false, network: "proven", writable: [] } as const;
  const needHigh = [];
  for (const { command, class: wanted } of cases) {
    const { verdict, class: got, rule } = await world.decisionOn(command, { autonomy: "medium", sandbox });
    const isRefused = /protected|catastrophic/.test(wanted);
    if (verdict !== "allow" && !isRefused) needHigh.push({ command, wanted, got, rule: rule ?? "" });
  }
  const counts: Record<string, number> = {};
  for (const { rule, wanted } of needHigh) if (wanted === "high") counts[rule] = (counts[rule] ?? 0) + 1;
  expect(counts).toEqual(leaving);
  expect(needHigh.filter(({ wanted }) => wanted !== "high").map(({ command }) => command)).toEqual([
    "aws s3 ls s3://my-bucket/releases/",
    "terraform plan -no-color | tail -40",
  ]);
});
