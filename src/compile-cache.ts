import module from "node:module";

/** Node 22 and later can keep compiled code between runs. */
export function enableCompileCache(): void {
  const { enableCompileCache: enable } = module as { enableCompileCache?: () => unknown };
  enable?.();
}
