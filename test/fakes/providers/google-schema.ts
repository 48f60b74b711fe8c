import { z } from "zod";

/*
 * The requests of `models/<model>:generateContent` and `:streamGenerateContent`, after the type definitions of the
 * official SDK, 2.32, for the Gemini API (what that SDK keeps for the other platform is unknown here). Field names in
 * snake case, which the service also reads, and its own tools beside functions are left out.
 */

/** Enum values are accepted in any case, as by the service. */
const oneOf = (...values: readonly string[]) =>
  z.string().refine((value) => values.includes(value.toUpperCase()), { params: { values } });
/** 64-bit numbers can be strings. */
const int64 = z.union([z.int(), z.string().regex(/^-?\d+$/)]);
const struct = z.record(z.string(), z.unknown());

export interface OpenApiSchema {
  readonly type?: string | undefined;
  readonly format?: string | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly items?: OpenApiSchema | undefined;
  readonly properties?: Readonly<Record<string, OpenApiSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly anyOf?: readonly OpenApiSchema[] | undefined;
  readonly [keyword: string]: unknown;
}

const openApi: z.ZodType<OpenApiSchema> = z.lazy(() =>
  z.strictObject({
    type: oneOf("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL").optional(),
    format: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    nullable: z.boolean().optional(),
    enum: z.array(z.string()).optional(),
    default: z.unknown().optional(),
    example: z.unknown().optional(),
    items: openApi.optional(),
    minItems: int64.optional(),
    maxItems: int64.optional(),
    properties: z.record(z.string(), openApi).optional(),
    propertyOrdering: z.array(z.string()).optional(),
    required: z.array(z.string()).optional(),
    minProperties: int64.optional(),
    maxProperties: int64.optional(),
    minLength: int64.optional(),
    maxLength: int64.optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().optional(),
    anyOf: z.array(openApi).optional(),
  }),
);

const bytes = z.base64();
const blob = z.strictObject({ mimeType: z.string(), data: bytes, displayName: z.string().optional() });
const file = z.strictObject({ mimeType: z.string().optional(), fileUri: z.string() });

const part = z.strictObject({
  text: z.string().optional(),
  inlineData: blob.optional(),
  fileData: file.optional(),
  functionCall: z
    .strictObject({ id: z.string().optional(), name: z.string().optional(), args: struct.optional() })
    .optional(),
  functionResponse: z
    .strictObject({
      id: z.string().optional(),
      name: z.string().optional(),
      response: struct.optional(),
      parts: z.array(z.strictObject({ inlineData: blob.optional(), fileData: file.optional() })).optional(),
      scheduling: oneOf("SCHEDULING_UNSPECIFIED", "SILENT", "WHEN_IDLE", "INTERRUPT").optional(),
      willContinue: z.boolean().optional(),
    })
    .optional(),
  executableCode: struct.optional(),
  codeExecutionResult: struct.optional(),
  thought: z.boolean().optional(),
  // Not checked as base64, because the placeholder for a lost signature is not.
  thoughtSignature: z.string().optional(),
  mediaResolution: struct.optional(),
  videoMetadata: struct.optional(),
  partMetadata: struct.optional(),
});

const content = z.strictObject({ role: z.string().optional(), parts: z.array(part).optional() });

const declaration = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  parameters: openApi.optional(),
  parametersJsonSchema: z.unknown().optional(),
  response: openApi.optional(),
  responseJsonSchema: z.unknown().optional(),
  behavior: oneOf("UNSPECIFIED", "BLOCKING", "NON_BLOCKING").optional(),
});

const generationConfig = z.strictObject({
  temperature: z.number().optional(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  candidateCount: z.int().optional(),
  maxOutputTokens: z.int().optional(),
  stopSequences: z.array(z.string()).optional(),
  responseLogprobs: z.boolean().optional(),
  logprobs: z.int().optional(),
  presencePenalty: z.number().optional(),
  frequencyPenalty: z.number().optional(),
  seed: z.int().optional(),
  responseMimeType: z.string().optional(),
  responseSchema: openApi.optional(),
  responseJsonSchema: z.unknown().optional(),
  responseModalities: z.array(oneOf("MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO")).optional(),
  mediaResolution: z.string().optional(),
  speechConfig: struct.optional(),
  imageConfig: struct.optional(),
  audioTranscriptionConfig: struct.optional(),
  enableEnhancedCivicAnswers: z.boolean().optional(),
  thinkingConfig: z
    .strictObject({
      includeThoughts: z.boolean().optional(),
      thinkingBudget: z.int().optional(),
      thinkingLevel: oneOf("THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH").optional(),
    })
    .optional(),
});

export const requestSchema = z.strictObject({
  contents: z.array(content).optional(),
  systemInstruction: content.optional(),
  tools: z.array(z.strictObject({ functionDeclarations: z.array(declaration).optional() })).optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z
        .strictObject({
          mode: oneOf("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED").optional(),
          allowedFunctionNames: z.array(z.string()).optional(),
        })
        .optional(),
      retrievalConfig: struct.optional(),
      includeServerSideToolInvocations: z.boolean().optional(),
    })
    .optional(),
  generationConfig: generationConfig.optional(),
  safetySettings: z
    .array(z.strictObject({ category: z.string(), threshold: z.string(), method: z.string().optional() }))
    .optional(),
  cachedContent: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  serviceTier: z.string().optional(),
  store: z.boolean().optional(),
  continuationToken: bytes.optional(),
});

export type GenerateRequest = z.infer<typeof requestSchema>;
export type Part = z.infer<typeof part>;
export type Content = z.infer<typeof content>;

/** One violation: its place, and the service's sentence. */
export interface Violation {
  readonly field: string;
  readonly description: string;
}

/** Schema violations of a body, in the service's words. */
export function schemaViolations(error: z.ZodError, body: unknown): Violation[] {
  return error.issues.flatMap((issue) => violationsOf(issue, body));
}

function violationsOf(issue: z.core.$ZodIssue, body: unknown): Violation[] {
  if (issue.code === "unrecognized_keys") {
    const field = protoPath(issue.path, body);
    const where = field === "" ? "" : ` at '${field}'`;
    return issue.keys.map((key) => ({
      field,
      description: `Invalid JSON payload received. Unknown name "${key}"${where}: Cannot find field.`,
    }));
  }
  const field = protoPath(issue.path, body);
  const value = valueAt(body, issue.path);
  if (Array.isArray(value)) {
    const parent = protoPath(issue.path.slice(0, -1), body);
    const name = String(issue.path.at(-1));
    const at = parent === "" ? "" : ` at '${parent}'`;
    const description = `Invalid JSON payload received. Unknown name "${name}"${at}: Proto field is not repeating, cannot start list.`;
    return [{ field: parent, description }];
  }
  if (value === undefined) return [{ field, description: `Invalid value at '${field}': the field is required.` }];
  if (issue.code === "invalid_format" && issue.format === "base64") {
    return [{ field, description: `Invalid value at '${field}' (TYPE_BYTES), Base64 decoding failed for "${value}"` }];
  }
  return [{ field, description: `Invalid value at '${field}' (${kindOf(issue)}), ${JSON.stringify(value)}` }];
}

function kindOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "custom") return "ENUM";
  if (issue.code !== "invalid_type") return "TYPE_INT64";
  const kinds: Record<string, string> = {
    string: "TYPE_STRING",
    number: "TYPE_DOUBLE",
    int: "TYPE_INT32",
    boolean: "TYPE_BOOL",
  };
  return kinds[issue.expected] ?? "TYPE_MESSAGE";
}

const maps = new Set<PropertyKey>(["properties", "labels"]);

/** Fields in snake case, and map entries by index: `parameters.properties[1].value.any_of[0]`. */
export function protoPath(path: readonly PropertyKey[], body: unknown): string {
  let words = "";
  for (const [index, key] of path.entries()) {
    const parent = path[index - 1];
    if (typeof key === "number") words += `[${key}]`;
    else if (parent !== undefined && maps.has(parent) && !maps.has(path[index - 2] ?? "")) {
      const names = Object.keys(valueAt(body, path.slice(0, index)) as object);
      words += `[${names.indexOf(String(key))}].value`;
    } else words += `${words === "" ? "" : "."}${snake(String(key))}`;
  }
  return words;
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], body);
}
