// Errors to catch: all SDK errors extend SdkError, and each kind has its own class.
import { BackendGoneError, createSession, query, resumeSession, SdkError } from "tinman/sdk";

async function attempt(act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof SdkError)) throw error;
    console.log(`${error.name}: ${error.message}`);
    if (error instanceof BackendGoneError) console.log(`  exit code ${error.exitCode}`);
  }
}

await attempt(() => resumeSession("00000000-0000-4000-8000-000000000000"));
await attempt(() => createSession({ executable: "no-such-program" }));
// A backend that exits at any time: everything waiting rejects, with the end of its stderr.
await attempt(() => createSession({ args: ["--no-such-option"] }));
// A backend that does not finish.
await attempt(() => query("run `sleep 60`", { timeouts: { turn: 500 } }).result);
