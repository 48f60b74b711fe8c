import type { Connection } from "./connection/connection.ts";
import type { CheckImage } from "./tools/results.ts";

export interface ResourceParts {
  find(server: string): Connection | undefined;
  /** Servers with resources. */
  names(): readonly string[];
  readonly checkImage: CheckImage;
}
