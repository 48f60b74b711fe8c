/** Plain data as YAML, as a person would write it. */
export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(value, { lineWidth: 0 });
}
