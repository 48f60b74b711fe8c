/** Node 22 and later can keep compiled code between runs. Earlier ones would only lose time by loading the module. */
export async function enableCompileCache(): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < 22) return;
  const { default: module } = await import("node:module");
  const { enableCompileCache: enable } = module as { enableCompileCache?: () => unknown };
  enable?.();
}
