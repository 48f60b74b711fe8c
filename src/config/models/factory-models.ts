import { AgentError } from "../../engine/errors.ts";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import { isRecord } from "../../text/values.ts";
import { readBounded } from "../bounded-file.ts";
import { type ModelEntryConfig, modelEntryFault } from "../check/checked-config.ts";
import { reason } from "../check/config-fault.ts";
import { faultText } from "../check/form.ts";
import { visible } from "../check/visible.ts";
import { parseJsonWithComments } from "./json-with-comments.ts";

const mostBytes = 4 * 1024 * 1024;

interface FactoryModels {
  readonly entries: readonly ModelEntryConfig[];
  /** Entries and keys that were skipped, one line each. */
  readonly notes: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The custom models of a settings file, as our entries. Rejects with `usage` if the file is missing or malformed. */
export async function readFactoryModels(path: string): Promise<FactoryModels> {
  const bytes = await readBounded(path, mostBytes).catch((error: unknown) => {
    throw new AgentError("usage", `${path} cannot be read: ${reason(error)}`);
  });
  if (bytes.length > mostBytes) throw new AgentError("usage", `${path} is larger than 4 MiB.`);
  const settings = parseJsonWithComments(bytes.toString("utf8"));
  if (!isRecord(settings)) throw new AgentError("usage", `${path} does not contain a JSON object.`);
  const listed = settings.customModels ?? settings.custom_models ?? [];
  if (!Array.isArray(listed)) throw new AgentError("usage", `${path}: customModels is not a list.`);
  const entries: ModelEntryConfig[] = [];
  const notes: string[] = [];
  for (const [index, raw] of listed.entries()) {
    const place = `customModels[${index}]`;
    const made = isRecord(raw) ? entryOf(raw, index) : "it is not an object";
    if (typeof made === "string") {
      notes.push(`Skipped ${place}: ${made}.`);
      continue;
    }
    const fault = modelEntryFault(made.entry);
    if (fault !== undefined) {
      notes.push(`Skipped ${place}: ${faultText(fault)}.`);
      continue;
    }
    const entry = made.entry as ModelEntryConfig;
    if (entries.some(({ id }) => id === entry.id)) {
      notes.push(`Skipped ${place}: duplicate ${visible(entry.id)}.`);
      continue;
    }
    entries.push(entry);
    for (const note of made.notes) notes.push(`${place}: ${note}.`);
  }
  return { entries, notes };
}

/** The provider, in our terms. */
const providers = new Map([
  ["anthropic", "anthropic"],
  ["openai", "openai"],
  ["generic-chat-completion-api", "openai-compatible"],
]);

/** The key in newer and in older files. */
const spellings = {
  displayName: ["displayName", "model_display_name"],
  baseUrl: ["baseUrl", "base_url"],
  apiKey: ["apiKey", "api_key"],
  maxOutputTokens: ["maxOutputTokens", "max_tokens"],
  contextWindow: ["maxContextLimit"],
  headers: ["extraHeaders", "extra_headers"],
  extraArguments: ["extraArgs", "extra_args"],
} as const;
const known = new Set<string>([
  ...["model", "provider", "id", "index", "supportsImages", "noImageSupport"],
  ...Object.values(spellings).flat(),
]);

/** An entry with its unused parts, or why it is skipped. */
function entryOf(raw: Fields, position: number): { entry: object; notes: readonly string[] } | string {
  const given = (name: keyof typeof spellings): unknown =>
    spellings[name].map((key) => raw[key]).find((value) => value !== undefined && value !== null);
  const notes = Object.keys(raw)
    .filter((key) => !known.has(key))
    .map((key) => `skipped the unknown key ${visible(key)}`);
  const optional = (name: keyof typeof spellings, fits: (value: unknown) => boolean): object => {
    const value = given(name);
    if (value === undefined) return {};
    if (fits(value)) return { [name]: value };
    notes.push(`skipped ${spellings[name][0]}, which has the wrong type`);
    return {};
  };

  const { model } = raw;
  if (!isText(model)) return "it names no model";
  const provider = typeof raw.provider === "string" ? providers.get(raw.provider) : undefined;
  if (provider === undefined) {
    return `unknown provider ${visible(String(raw.provider))}; available: ${[...providers.keys()].join(", ")}`;
  }
  const baseUrl = given("baseUrl");
  if (!isText(baseUrl)) return "it has no baseUrl";
  const asked = idOf(raw, model, given("displayName"), position);
  const id = odd.test(asked) ? asked.replaceAll(new RegExp(odd, "gu"), "-").replaceAll(/-+/g, "-") : asked;
  if (id !== asked) notes.push(`its id has invalid characters, so it becomes ${visible(id)}`);
  const entry = {
    id,
    provider,
    model,
    ...optional("displayName", isText),
    baseUrl: provider === "anthropic" ? withVersion(baseUrl) : baseUrl,
    ...optional("apiKey", isText),
    ...optional("headers", (value) => isRecord(value) && Object.values(value).every((one) => typeof one === "string")),
    ...optional("extraArguments", isRecord),
    ...optional("contextWindow", isCount),
    ...optional("maxOutputTokens", isCount),
    ...imagesOf(raw),
  };
  return { entry, notes };
}

/** Characters that split an id or are invisible. */
const odd = /[\s,\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** The model id that such a file's clients send. */
function idOf(raw: Fields, model: string, displayName: unknown, position: number): string {
  if (isText(raw.id)) return raw.id;
  if (!isText(displayName)) return model;
  const index = Number.isSafeInteger(raw.index) ? Number(raw.index) : position;
  return `custom:${displayName.trim().replace(/\s+/g, "-")}-${index}`;
}

/** Their addresses end before the version, which their client adds. Ours include it. */
function withVersion(address: string): string {
  const [, path = "", query = ""] = /^([^?]*)(.*)$/s.exec(address.trim()) ?? [];
  const bare = withoutTrailingSlashes(path).replace(/\/messages$/, "");
  return `${/\/v\d+$/.test(bare) ? bare : `${bare}/v1`}${query}`;
}

function imagesOf({ supportsImages, noImageSupport }: Fields): { readonly images?: boolean } {
  if (typeof supportsImages === "boolean") return { images: supportsImages };
  return typeof noImageSupport === "boolean" ? { images: !noImageSupport } : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
