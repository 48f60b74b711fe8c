import { execFileSync } from "node:child_process";

/** End-to-end tests run the built program, so it is built from this very source first. */
export default function setup(): void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
