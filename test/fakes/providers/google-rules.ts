import type { ModelRules } from "./google-models.ts";
import { modelFaults } from "./google-models.ts";
import type { Content, GenerateRequest, OpenApiSchema, Part } from "./google-schema.ts";
import type { Seal } from "./seal.ts";

/** The documented placeholder for calls without a known signature, such as another model's. */
export const skippedSignature = "skip_thought_signature_validator";

/**
 * Violations of the service's rules by a request that fits the schema, in the service's words where known, worst first.
 */
export function brokenRules(request: GenerateRequest, rules: ModelRules, seal: Seal): string[] {
  const contents = request.contents ?? [];
  if (contents.length === 0) return ["* GenerateContentRequest.contents: contents is not specified"];
  return [
    ...modelFaults(request, rules),
    ...toolFaults(request),
    ...partFaults(request),
    ...turnFaults(contents),
    ...signatureFaults(contents, rules, seal),
  ];
}

const callsOf = ({ parts = [] }: Content) => parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
const answersOf = ({ parts = [] }: Content) =>
  parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));

/* ------------------------------------------------------------------- tools */

function toolFaults({ tools = [], toolConfig, generationConfig }: GenerateRequest): string[] {
  const faults: string[] = [];
  const names: string[] = [];
  for (const [at, { functionDeclarations = [] }] of tools.entries()) {
    for (const [index, { name = "", parameters, parametersJsonSchema }] of functionDeclarations.entries()) {
      const path = `GenerateContentRequest.tools[${at}].function_declarations[${index}]`;
      if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)) {
        faults.push(
          `* ${path}.name: [FieldIssue] Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`,
        );
      }
      if (names.includes(name)) faults.push(`Duplicate function declaration found: ${name}`);
      names.push(name);
      if (parameters !== undefined && parametersJsonSchema !== undefined) {
        faults.push(`* ${path}: parameters and parameters_json_schema are mutually exclusive.`);
      }
      if (parameters !== undefined) faults.push(...openApiFaults(parameters, `${path}.parameters`));
    }
  }
  const { mode, allowedFunctionNames = [] } = toolConfig?.functionCallingConfig ?? {};
  if (mode !== undefined && names.length === 0) {
    faults.push("Function calling config is set without function_declarations.");
  }
  if (allowedFunctionNames.length > 0 && !["ANY", "VALIDATED"].includes(mode?.toUpperCase() ?? "")) {
    faults.push("Function calling config: allowed_function_names is only allowed with the modes ANY and VALIDATED.");
  }
  const strange = allowedFunctionNames.filter((name) => !names.includes(name));
  if (strange.length > 0) faults.push(`allowed_function_names has names that are not declared: ${strange.join(", ")}`);
  if (names.length > 0 && generationConfig?.responseMimeType === "application/json") {
    faults.push("Function calling with a response mime type: 'application/json' is unsupported");
  }
  return faults;
}

function openApiFaults(schema: OpenApiSchema, path: string): string[] {
  const faults: string[] = [];
  const type = schema.type?.toUpperCase();
  const properties = Object.entries(schema.properties ?? {});
  if (type === undefined && schema.anyOf === undefined) faults.push(`* ${path}.type: must be specified.`);
  if (type === "OBJECT" && schema.properties !== undefined && properties.length === 0) {
    faults.push(`* ${path}.properties: should be non-empty for OBJECT type`);
  }
  if (type === "ARRAY" && schema.items === undefined) faults.push(`* ${path}.items: missing field.`);
  if (properties.length > 0 && type !== "OBJECT") faults.push(`* ${path}.properties: only allowed for OBJECT type`);
  if (schema.enum !== undefined && type !== "STRING") faults.push(`* ${path}.enum: only allowed for STRING type`);
  if (schema.enum?.includes("")) faults.push(`* ${path}.enum[${schema.enum.indexOf("")}]: cannot be empty`);
  if (type === "STRING" && schema.format !== undefined && !["enum", "date-time"].includes(schema.format)) {
    faults.push(`* ${path}.format: only 'enum' and 'date-time' are supported for STRING type`);
  }
  for (const [index, name] of (schema.required ?? []).entries()) {
    if (schema.properties?.[name] === undefined) faults.push(`* ${path}.required[${index}]: property is not defined`);
  }
  for (const [name, inner] of properties) faults.push(...openApiFaults(inner, `${path}.properties[${name}]`));
  if (schema.items !== undefined) faults.push(...openApiFaults(schema.items, `${path}.items`));
  for (const [index, inner] of (schema.anyOf ?? []).entries()) {
    faults.push(...openApiFaults(inner, `${path}.any_of[${index}]`));
  }
  return faults;
}

/* ------------------------------------------------------------------- parts */

const dataFields = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
] as const satisfies readonly (keyof Part)[];

const readable =
  /^(image\/(png|jpe?g|webp|heic|heif|bmp)|(audio|video|text)\/.+|application\/(pdf|json|x-javascript))$/;

function partFaults({ contents = [], systemInstruction }: GenerateRequest): string[] {
  const faults: string[] = [];
  const check = ({ parts = [] }: Content, path: string) => {
    if (parts.length === 0) faults.push(`* GenerateContentRequest.${path}.parts: contents.parts must not be empty.`);
    for (const [index, part] of parts.entries()) {
      const at = `${path}.parts[${index}]`;
      const [first, second] = dataFields.filter((field) => part[field] !== undefined);
      if (first === undefined) {
        faults.push(`* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field`);
      }
      if (second !== undefined) {
        faults.push(`Invalid value at '${at}' (oneof), oneof field 'data' is already set. Cannot set '${second}'`);
      }
      const { inlineData, functionCall, functionResponse } = part;
      const media = [inlineData, ...(functionResponse?.parts ?? []).map((inner) => inner.inlineData)];
      for (const blob of media) {
        if (blob !== undefined && !readable.test(blob.mimeType)) faults.push(`Unsupported MIME type: ${blob.mimeType}`);
      }
      if (functionCall !== undefined && !functionCall.name) {
        faults.push(`* GenerateContentRequest.${at}.function_call.name: Name cannot be empty.`);
      }
      if (functionResponse !== undefined && !functionResponse.name) {
        faults.push(`* GenerateContentRequest.${at}.function_response.name: Name cannot be empty.`);
      }
      if (functionResponse !== undefined && functionResponse.response === undefined) {
        faults.push(`* GenerateContentRequest.${at}.function_response.response: Response cannot be empty.`);
      }
    }
  };
  for (const [index, content] of contents.entries()) check(content, `contents[${index}]`);
  if (systemInstruction !== undefined) {
    check(systemInstruction, "system_instruction");
    if ((systemInstruction.parts ?? []).some(({ text }) => text === undefined)) {
      faults.push("System instruction only supports text parts.");
    }
  }
  return faults;
}

/* ------------------------------------------------------------------- turns */

function turnFaults(contents: readonly Content[]): string[] {
  const faults: string[] = [];
  for (const [index, content] of contents.entries()) {
    const role = content.role ?? "user";
    if (role !== "user" && role !== "model") faults.push("Please use a valid role: user, model.");
    const calls = callsOf(content);
    const answers = answersOf(content);
    const before = contents[index - 1];
    if (calls.length > 0 && (role !== "model" || before === undefined || (before.role ?? "user") !== "user")) {
      faults.push(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
    if (answers.length > 0 && (role !== "user" || before === undefined || callsOf(before).length === 0)) {
      faults.push("Please ensure that function response turn comes immediately after a function call turn.");
    }
    if (calls.length === 0) continue;
    const next = contents[index + 1];
    const answered = next === undefined ? [] : answersOf(next);
    if (answered.length !== calls.length) {
      faults.push(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
      continue;
    }
    const names = (list: readonly { name?: string | undefined }[]) =>
      list
        .map(({ name }) => name)
        .sort()
        .join(", ");
    if (names(answered) !== names(calls)) {
      faults.push(
        `Please ensure that the function response parts have the names of the function call parts: ${names(answered)} are not ${names(calls)}.`,
      );
    }
    for (const { id, name } of answered) {
      if (id !== undefined && !calls.some((call) => call.id === id && call.name === name)) {
        faults.push(`Please ensure that the id of a function response is that of its function call: ${id} is of none.`);
      }
    }
  }
  if (contents.length === 1 && contents[0]?.role === "model") {
    faults.push("Please ensure that single turn requests end with a user role or the role field is empty.");
  }
  return faults;
}

/* -------------------------------------------------------------- signatures */

/** The content that a part's signature was made for. */
export function sealedContent({ functionCall }: Part): string {
  return functionCall === undefined ? "text" : `call ${functionCall.name}`;
}

function signatureFaults(contents: readonly Content[], rules: ModelRules, seal: Seal): string[] {
  const faults: string[] = [];
  const lastWords = contents.findLastIndex(({ role, parts = [] }) => {
    return (role ?? "user") === "user" && parts.some(({ functionResponse }) => functionResponse === undefined);
  });
  for (const [index, content] of contents.entries()) {
    for (const part of content.parts ?? []) {
      const signature = part.thoughtSignature;
      if (signature === undefined || signature === skippedSignature) continue;
      if (!seal.holds(signature, sealedContent(part))) faults.push("Corrupted thought signature.");
    }
    // Only the current turn's steps are checked, and in each the first call.
    const first = (content.parts ?? []).find(({ functionCall }) => functionCall !== undefined);
    if (rules.signed && index > lastWords && first !== undefined && first.thoughtSignature === undefined) {
      faults.push(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall?.name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
      );
    }
  }
  return faults;
}
