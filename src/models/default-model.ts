/** The default model by key variable; the first set one wins. Separate from the large tables for a fast start. */
const byVariable: readonly (readonly [variable: string, model: string])[] = [
  ["ANTHROPIC_API_KEY", "claude-sonnet-5-5"],
  ["OPENAI_API_KEY", "gpt-5.6"],
  ["GEMINI_API_KEY", "gemini-pro-latest"],
  ["GOOGLE_API_KEY", "gemini-pro-latest"],
  ["GOOGLE_GENERATIVE_AI_API_KEY", "gemini-pro-latest"],
];

export function modelOfKeys(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return byVariable.find(([variable]) => (env[variable] ?? "") !== "")?.[1];
}
