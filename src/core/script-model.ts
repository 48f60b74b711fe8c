/** A script is a file of this machine: on a server, to name one is for admins, unless it is the server's own. */
export function isForeignScript(model: string, own: string | undefined): boolean {
  return model.startsWith("script:") && model !== own;
}
