// Continues a session in another process, with its whole history.
import { createSession, resumeSession } from "tinman/sdk";

const first = await createSession();
await first.send("The password is DOLPHIN-2288. Just reply OK.");
await first.close();

const session = await resumeSession(first.id);
for (const { role, content } of session.history) {
  // The prompt is its message's last block, after the reminders for the agent.
  console.log(`${role}: ${content.at(-1)?.text}`);
}
console.log((await session.send("What password did I tell you? Reply ONLY the password.")).text);
await session.close();
