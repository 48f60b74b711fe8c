import type { Arg, Variables } from "../programs/arg.ts";
import type { Folders } from "../shell/folders.ts";

/** A command's variables with known values. */
export interface Bindings {
  bind(name: string, value: Arg | undefined): void;
  forget(name: string): void;
  in(folders: Folders): Variables;
}

const mostBindings = 50;

/** Arithmetic that only reads variables. */
const readingArithmetic = /\$\(\((?!\()[\w\s+*/%()-]*\)\)/g;
/** It might set a variable. */
const counting = /\+\s*\+|-\s*-/;

export function createBindings(whole: string, home: string, trustsVariables: boolean): Bindings {
  let count = 0;
  const bound = new Map<string, Arg>();
  const occurrences = (pattern: string, text = whole): number => text.match(new RegExp(pattern, "g"))?.length ?? 0;
  let calculated: string | undefined;
  return {
    /**
     * A value is known only if the rest of the text uses the variable without naming it otherwise. Names in capitals
     * may come from the environment if the assignment is not reached.
     */
    bind(name, value) {
      count += 1;
      if (count > mostBindings || !trustsVariables) return void bound.delete(name);
      const mentions = occurrences(`(?<![A-Za-z0-9_])${name}(?![A-Za-z0-9_])`);
      calculated ??= (whole.match(readingArithmetic) ?? []).filter((text) => !counting.test(text)).join("");
      const flags = occurrences(`(?<=\\s)-${name}(?=\\s)`);
      const uses =
        occurrences(`\\$(?:${name}(?![A-Za-z0-9_])|\\{${name}\\})`) +
        occurrences(`(?<![A-Za-z0-9_$-])${name}(?![A-Za-z0-9_])`, calculated);
      const isKnown = value !== undefined && value.kind !== "unknown";
      if (isKnown && /[a-z]/.test(name) && mentions === uses + flags + 1 && !whole.includes("\\\n"))
        bound.set(name, value);
      else bound.delete(name);
    },
    forget: (name) => void bound.delete(name),
    in: (folders) => (name) => {
      if (name === "HOME") return { kind: "text", value: home };
      const [only] = folders ?? [];
      if (name === "PWD" && only !== undefined && folders?.length === 1) return { kind: "text", value: only };
      return bound.get(name);
    },
  };
}
