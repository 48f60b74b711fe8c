// A session that goes on in another process, with all that was said in it.
import { createSession, resumeSession } from "tinman/sdk";

const first = await createSession();
await first.send("The password is DOLPHIN-2288. Just reply OK.");
await first.close();

const session = await resumeSession(first.id);
for (const { role, content } of session.history) {
  // A prompt is the last block of its message; before it stands what else the agent was told with it.
  console.log(`${role}: ${content.at(-1)?.text}`);
}
console.log((await session.send("What password did I tell you? Reply ONLY the password.")).text);
await session.close();
