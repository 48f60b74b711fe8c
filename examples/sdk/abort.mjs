// Stops waiting: the promise rejects at once with the signal's reason, and the turn is interrupted.
import { createSession } from "tinman/sdk";

const session = await createSession({ signal: AbortSignal.timeout(30_000) });
try {
  await session.send("run `sleep 60`", { signal: AbortSignal.timeout(500) });
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
console.log((await session.send("Just reply OK.")).text);
await session.close();
