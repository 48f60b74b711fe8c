/** Shorter texts are no secrets, and would take ordinary words out of a sentence. */
const shortest = 6;

/** Takes secrets out of a text that people, logs or the model may see, also where they are written as in a URL. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => {
    if (secret === undefined || secret.length < shortest) return [];
    return [secret, encodeURIComponent(secret.toWellFormed()), Buffer.from(secret).toString("base64")];
  });
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((clean, secret) => clean.replaceAll(secret, "[hidden]"), text);
}
