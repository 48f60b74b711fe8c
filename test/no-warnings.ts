import { afterEach } from "vitest";
import { takeWarnings, watchProcess } from "./warnings.ts";

/** A Node warning is a defect, such as a listener that is never removed. */

watchProcess();

afterEach(() => {
  const warnings = takeWarnings();
  if (warnings.length > 0) throw new Error(`A process of this test warned:\n${warnings.join("\n")}`);
});
