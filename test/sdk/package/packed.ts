import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bench, createBench } from "../../e2e/tinman.ts";

export const checkout = fileURLToPath(new URL("../../../", import.meta.url));

/** A project with the package as npm would publish it in its `node_modules`, and nothing else. */
export async function createProjectWithPackage(): Promise<Bench> {
  const bench = await createBench();
  const installed = join(bench.cwd, "node_modules", "tinman");
  await mkdir(installed, { recursive: true });
  const { code, stderr } = await bench.shell(
    `npm pack --silent --ignore-scripts --pack-destination '${bench.root}' . &&
      tar -xzf '${bench.root}'/tinman-*.tgz --strip-components=1 -C '${installed}'`,
    { cwd: checkout },
  );
  if (code !== 0) throw new Error(`npm pack failed: ${stderr}`);
  return bench;
}
