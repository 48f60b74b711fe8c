const reference = "$" + "{DEMO_KEY}";

/** A configuration with every key. */
export const wholeConfig = {
  model: "mine",
  models: {
    default: "mine",
    fallback: "offline",
    aliases: { short: "mine" },
    entries: [
      {
        id: "mine",
        provider: "openai-compatible",
        model: "m",
        displayName: "Mine",
        baseUrl: "http://127.0.0.1:9/v1",
        apiKey: reference,
        headers: { "X-Team": "blue", "X-Empty": "" },
        extraArguments: { top_p: 0.5, deep: [{ a: null }] },
        contextWindow: 9_000,
        maxOutputTokens: 900,
        images: true,
        documents: false,
        prefersPatch: true,
        reasoningEfforts: ["low", "high"],
        reasoningStyle: "word",
        thinkingField: "none",
        prices: { input: 0, output: 2, cacheRead: 0.5, cacheWrite: 1 },
        timeouts: { connect: 1, firstByte: 2.5, idle: 3 },
      },
      { id: "other", provider: "ollama" },
    ],
  },
  fetch: { allowPrivate: ["10.0.0.0/8"] },
  network: { caFile: "/etc/ca.pem" },
  durability: "turn",
  passEnvironment: ["GH_TOKEN"],
  permissions: { allow: ["npm run *"], deny: ["git push *", "*"] },
  serve: {
    hosts: ["agent.example.org", "[::1]"],
    origins: ["https://agent.example.org"],
    users: [
      { name: "ann", role: "user", tokens: [`sha256:${"0f".repeat(32)}`] },
      { name: "ben", role: "admin", tokens: [] },
      { name: "bob", role: "user", tokens: [], folders: ["/srv/bob"], autonomy: "low", models: ["mine"] },
    ],
    rpc: "admins",
    limits: { connections: 10, connectionsPerUser: 5, payloadBytes: 1_000, unsentBytes: 2_000 },
    timeouts: { ping: "20s", stalled: 10, drain: "1.5m" },
  },
  interactive: {
    toolExecution: "server",
    toolExecutionChoices: ["client"],
    autonomy: "off",
    timeouts: { ai: 10, toolResult: "10m", idleSession: "1h" },
    limits: { queuedMessages: 1, openSessions: 4, sessionsPerMinute: 2, messagesPerMinute: 3 },
  },
};
