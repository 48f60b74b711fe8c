// Continues in a copy: both remember the past, and neither sees the other's later turns.
import { createSession } from "tinman/sdk";

const session = await createSession();
await session.send("The gate code is 5519. Just reply OK.");

const copy = await session.fork({ title: "Another code" });
await copy.send("The gate code is 7070. Just reply OK.");

const ask = "What gate code did I tell you? Reply only the code.";
for (const each of [session, copy]) console.log(`${each.title}: ${(await each.send(ask)).text}`);
await Promise.all([session.close(), copy.close()]);
