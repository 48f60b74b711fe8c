/** Folders that builds, tests and installs can regenerate. */
const names = new Set(
  (
    "node_modules bower_components dist build out target obj .next .nuxt .output .svelte-kit .angular .astro .turbo .vite " +
    ".parcel-cache .cache .rollup.cache .docusaurus storybook-static coverage .nyc_output htmlcov __pycache__ .pytest_cache " +
    ".mypy_cache .ruff_cache .hypothesis .tox .nox .venv venv .eggs .ipynb_checkpoints _build .gradle .dart_tool deriveddata " +
    "cmake-build-debug cmake-build-release zig-cache .zig-cache zig-out .stack-work dist-newstyle elm-stuff"
  ).split(" "),
);

export function isBuildFolder(name: string): boolean {
  return names.has(name.toLowerCase()) || /.\.egg-info$/.test(name);
}

/** Whether a path below a folder is a build folder or inside one. */
export function isBuilt(path: string, folder: string): boolean {
  if (!path.startsWith(`${folder}/`)) return false;
  return path
    .slice(folder.length + 1)
    .split("/")
    .some(isBuildFolder);
}
