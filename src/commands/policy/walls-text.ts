import type { Containment } from "../../engine/containment.ts";

/** A contained command's permissions, such as "no network; writes only below /project and $TMPDIR". */
export function wallsText({
  writable: [, ...folders],
  repositories,
  newFolders,
  caches,
  outputs,
  network,
}: Containment): string {
  const places = [...new Set([...folders, ...repositories, ...newFolders, ...caches])];
  const written = places.length === 0 ? "writes only $TMPDIR" : `writes only below ${places.join(", ")} and $TMPDIR`;
  return [
    network === "host" ? "with the network" : "no network",
    outputs.length === 0 ? written : `${written}, and the files ${outputs.join(", ")}`,
  ].join("; ");
}
