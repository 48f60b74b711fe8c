// What can be caught: all errors of the SDK are of the class SdkError, and each kind has a class of its own.
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
// A backend that ends, in whichever moment: whatever waits is rejected, with the end of its stderr.
await attempt(() => createSession({ args: ["--no-such-option"] }));
// A backend that does not come to an end.
await attempt(() => query("run `sleep 60`", { timeouts: { turn: 500 } }).result);
