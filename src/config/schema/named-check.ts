import { z } from "zod";
import { type CheckName, namedChecks } from "../check/named-checks.ts";

/** The checks for the output of a schema of this type. */
type CheckFor<T> = {
  [Name in CheckName]: T extends Parameters<(typeof namedChecks)[Name]>[0] ? Name : never;
}[CheckName];

const names = new WeakMap<z.core.$ZodCheck, CheckName>();

/** Adds a check that the schema's form refers to by name. */
export function named<S extends z.ZodType>(schema: S, name: CheckFor<z.output<S>>): S {
  const check = z.check<z.output<S>>((payload) => {
    const fault = namedChecks[name](payload.value as never);
    if (fault === undefined) return;
    const { path, words } = typeof fault === "string" ? { path: [], words: fault } : fault;
    payload.issues.push({ code: "custom", input: payload.value, message: words, path: [...path] });
  });
  names.set(check, name);
  return schema.check(check);
}

export function namesOfChecks(schema: z.core.$ZodType): readonly CheckName[] {
  return (schema._zod.def.checks ?? []).flatMap((check) => names.get(check) ?? []);
}
