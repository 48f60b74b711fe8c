import type { z } from "zod";
import type { modelEntrySchema } from "../schema/models.ts";
import type { adminConfigSchema, repositoryConfigSchema, userConfigSchema } from "../schema/user-config.ts";
import { invalid } from "./config-fault.ts";
import forms from "./config-forms.json" with { type: "json" };
import type { Fault, Form } from "./form.ts";
import { faultOf, faultText, isMap } from "./form.ts";
import { namedChecks } from "./named-checks.ts";
import { wholeModels, wholeSandbox } from "./whole-forms.ts";
import { parseConfig } from "./yaml-document.ts";

/** `config.yaml` as in its schema. The forms are generated from it, so that a run loads neither the schema nor zod. */
export type UserConfig = z.infer<typeof userConfigSchema>;
/** An entry of `models` in config.yaml. */
export type ModelEntryConfig = z.infer<typeof modelEntrySchema>;

/* The content of a file. Each throws `config_invalid` with the first fault, in one line that names the file and the place. */

export function readUserConfig(text: string, path: string): UserConfig {
  return checkedUserConfig(parseConfig(text, path), path);
}

export function readAdminConfig(text: string, path: string): z.infer<typeof adminConfigSchema> {
  return checked(forms.admin, parseConfig(text, path), path);
}

/** Keeps unused keys. */
export function readRepositoryConfig(text: string, path: string): z.infer<typeof repositoryConfigSchema> {
  return checked(forms.repository, parseConfig(text, path), path);
}

export function checkedUserConfig(value: unknown, path: string): UserConfig {
  if (!isMap(value)) return checked(forms.user, value, path);
  const whole = {
    ...value,
    ...(Object.hasOwn(value, "models") ? { models: wholeModels(value.models) } : {}),
    ...(Object.hasOwn(value, "sandbox") ? { sandbox: wholeSandbox(value.sandbox) } : {}),
  };
  return checked(forms.user, whole, path);
}

export function modelEntryFault(value: unknown): Fault | undefined {
  return faultOf(forms.user.properties.models.properties.entries.items, value, namedChecks);
}

function checked<T>(form: Form, given: unknown, path: string): T {
  const value = given ?? {};
  const fault = faultOf(form, value, namedChecks);
  if (fault !== undefined) throw invalid(path, faultText(fault));
  return value as T;
}
