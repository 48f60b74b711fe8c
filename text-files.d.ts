/** Prose that ships inside the bundle: tool descriptions and the system prompt. */
declare module "*.md" {
  const text: string;
  export default text;
}

/** Replaced at build time with the version of package.json. */
declare const TINMAN_VERSION: string;
