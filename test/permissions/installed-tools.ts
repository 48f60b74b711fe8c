/** Files of a project that the cases of commands.yaml take to be installed. */
export const installedTools = ["tsc", "eslint", "prettier", "vitest", "jest", "vite"].map(
  (name) => `node_modules/.bin/${name}`,
);
