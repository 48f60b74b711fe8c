// Replaces a session's title, which comes from its first prompt.
import { createSession } from "tinman/sdk";

const session = await createSession();
await session.send("Just reply OK.");
console.log(session.title);
await session.rename("A better name");
console.log(session.title);
await session.close();
