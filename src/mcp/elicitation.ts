import type { Answer, Interaction, Question } from "../engine/interaction.ts";
import { type Fields, fieldsOf, isRecord, isText, listOf, textOf, textsOf } from "../text/values.ts";
import { shownLine } from "./server-problem.ts";

type Ask = (interaction: Interaction & { kind: "question" }, signal: AbortSignal) => Promise<Answer | undefined>;

const mostFields = 16;
const mostOptions = 50;
const declined = { action: "decline" };
/** The answer that leaves out an optional field. */
const leaveEmpty = "Leave empty";

/** One field of a form: how it is asked, and what an answer means. */
interface Field {
  readonly key: string;
  readonly question: Omit<Question, "index">;
  readonly isRequired: boolean;
  /** `undefined` if the answer does not fit the field. */
  read(answer: string): unknown;
}

/**
 * Asks the user what a server wants to know for a call, and returns the server's answer. Declines what cannot be asked:
 * without a form, without a client to ask, or if an answer does not fit.
 */
export async function elicit(
  server: string,
  callId: string,
  params: Fields,
  signal: AbortSignal,
  ask: Ask,
): Promise<Fields> {
  if (params.mode === "url") return declined;
  const fields = fieldsIn(fieldsOf(params.requestedSchema), `The server ${server} asks`, textOf(params.message) ?? "");
  if (fields === undefined) return declined;
  const questions = fields.map(({ question }, at) => ({ index: at + 1, ...question }));
  const answer = await ask({ kind: "question", callId, questions }, signal);
  if (answer === undefined) return declined;
  if (answer.kind !== "answers") return { action: "cancel" };
  const content: Record<string, unknown> = {};
  for (const [at, { key, isRequired, read }] of fields.entries()) {
    const given = answer.answers.find(({ index }) => index === at + 1)?.answer.trim() ?? "";
    if (!isRequired && (given === "" || given === leaveEmpty)) continue;
    const value = read(given);
    if (value === undefined) return declined;
    content[key] = value;
  }
  return { action: "accept", content };
}

/** The fields of a form. Without any, the user confirms the message. `undefined` for a form that cannot be shown. */
function fieldsIn(schema: Fields, topic: string, message: string): readonly Field[] | undefined {
  const properties = Object.entries(fieldsOf(schema.properties));
  if (properties.length > mostFields) return undefined;
  const required = textsOf(schema.required);
  const told = shownLine(message, 1000);
  const fields = properties.flatMap(([key, property]) => {
    const own = fieldsOf(property);
    const words = [told, shownLine(textOf(own.title) ?? key, 100), shownLine(textOf(own.description) ?? "", 300)];
    const question = words.filter((word) => word !== "").join(" – ");
    const isRequired = required.includes(key);
    const field = fieldOf(key, own, topic, question, isRequired);
    // An optional field of an unknown type is left out.
    return field === undefined && !isRequired ? [] : [field];
  });
  if (fields.length > 0) return fields.every((field) => field !== undefined) ? fields : undefined;
  if (properties.length > 0) return undefined;
  const confirmed: Field = {
    key: "confirmed",
    question: { topic, question: told, options: ["Yes", "No"] },
    isRequired: true,
    read: (answer) => (/^y(?:es)?$/i.test(answer) ? true : undefined),
  };
  return [confirmed];
}

function fieldOf(
  key: string,
  property: Fields,
  topic: string,
  question: string,
  isRequired: boolean,
): Field | undefined {
  const field = (options: readonly string[], read: Field["read"], hint = ""): Field => ({
    key,
    question: { topic, question: question + hint, options: isRequired ? options : [...options, leaveEmpty] },
    isRequired,
    read,
  });
  const choices = choicesOf(property);
  if (choices !== undefined) {
    const shown = choices.map(({ label }) => shownLine(label, 100));
    return field(
      shown,
      (answer) => choices[shown.indexOf(answer)]?.value ?? choices.find(({ value }) => value === answer)?.value,
    );
  }
  const several = property.type === "array" ? severalOf(fieldsOf(property.items)) : undefined;
  if (several !== undefined) {
    return field([], several.read, ` (several of these, separated by commas: ${several.labels.join(", ")})`);
  }
  switch (property.type) {
    case "boolean":
      return field(["Yes", "No"], (answer) =>
        /^(?:y|yes|true)$/i.test(answer) ? true : /^(?:n|no|false)$/i.test(answer) ? false : undefined,
      );
    case "number":
    case "integer":
      return field([], (answer) => numberIn(answer, property));
    case "string":
      return field([], (answer) => textIn(answer, property));
    default:
      return undefined;
  }
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

function severalOf(items: Fields): { readonly labels: readonly string[]; readonly read: Field["read"] } | undefined {
  const choices = choicesOf({ ...items, oneOf: items.anyOf ?? items.oneOf });
  if (choices === undefined) return undefined;
  const labels = choices.map(({ label }) => shownLine(label, 100));
  const read = (answer: string): unknown => {
    const names = answer.split(",").map((name) => name.trim());
    const values = names.map(
      (name) => (choices[labels.indexOf(name)] ?? choices.find(({ value }) => value === name))?.value,
    );
    return values.includes(undefined) ? undefined : values;
  };
  return { labels, read };
}

function choicesOf({ enum: values, enumNames, oneOf }: Fields): readonly Choice[] | undefined {
  const names = textsOf(enumNames);
  const choices = Array.isArray(oneOf)
    ? listOf(oneOf)
        .filter(isRecord)
        .map((one) => ({ value: one.const, label: textOf(one.title) ?? one.const }))
    : Array.isArray(values)
      ? values.map((value: unknown, at) => ({ value, label: names[at] ?? value }))
      : undefined;
  if (choices === undefined || choices.length === 0 || choices.length > mostOptions) return undefined;
  return choices.flatMap(({ value, label }) => (isText(value) && isText(label) ? [{ value, label }] : []));
}

function numberIn(answer: string, { type, minimum, maximum }: Fields): number | undefined {
  const value = /^[\d.e+-]{1,40}$/i.test(answer) ? Number(answer) : Number.NaN;
  if (!Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))) return undefined;
  if (typeof minimum === "number" && value < minimum) return undefined;
  return typeof maximum === "number" && value > maximum ? undefined : value;
}

function textIn(answer: string, { minLength, maxLength }: Fields): string | undefined {
  if (typeof minLength === "number" && answer.length < minLength) return undefined;
  return typeof maxLength === "number" && answer.length > maxLength ? undefined : answer;
}
