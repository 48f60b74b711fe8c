const any = { times: "any" } as const;
const ever = 3_600_000;

/** The scripted model of these tests, by the user's text. The first match counts. */
export const replies: readonly object[] = [
  { when: { user: "hello" }, ...any, text: ["Hel", "lo ", "you"] },
  { when: { user: "empty" }, ...any, empty: true },
  { when: { user: "think only" }, ...any, reasoning: "I think." },
  { when: { user: "hang" }, ...any, text: ["Wait", "never said"], chunk_delay_ms: ever },
  { when: { user: "stay silent" }, ...any, text: "never said", delay_ms: ever },
  { when: { user: "fail at once" }, ...any, error: { status: 400, message: "inner words of a validator" } },
  { when: { user: "fail later" }, ...any, text: ["Ha", "lf"], error: { status: 400, message: "inner words" } },
  { when: { user: "wrong key" }, ...any, error: { status: 401, message: "key sk-inner-secret is wrong" } },
  { when: { user: "long answer" }, ...any, text: Array.from({ length: 400 }, (_, at) => `${at} `) },
  { when: { user: "slow answer" }, ...any, text: Array.from({ length: 7 }, (_, at) => `${at} `), chunk_delay_ms: 300 },
  {
    when: { user: "one tool" },
    ...any,
    text: "Looking. ",
    tool_calls: [{ name: "Read", input: { file_path: "a.txt" } }],
  },
  {
    when: { user: "two tools" },
    ...any,
    tool_calls: [
      { name: "Read", input: { file_path: "a.txt" } },
      { name: "LS", input: { directory_path: "." } },
    ],
  },
  {
    when: { user: "odd arguments" },
    ...any,
    tool_calls: [
      { name: "Odd", input: { count: 3, deep: [true, null, { a: 1.5 }], text: "" } },
      { name: "Odd", input: {} },
      { name: "Odd", raw: "[1,2]" },
      { name: "Odd", raw: '"words"' },
      { name: "Odd", raw: "" },
    ],
  },
  {
    when: { user: "make a file" },
    ...any,
    tool_calls: [{ name: "Create", input: { file_path: "made.txt", content: "by the model\n" } }],
  },
  { when: { after_tool: "Create" }, ...any, text: "Made: {{tool_result}}" },
  { when: { after_tool: "Read" }, ...any, text: ["It says: ", "{{tool_result}}"] },
  { when: { after_tool: "LS" }, ...any, text: "Both: {{tool_result}}" },
  { when: { after_tool: "Odd" }, ...any, text: "Odd: {{tool_result}}" },
  { ...any, text: "You said: {{user}}" },
];
