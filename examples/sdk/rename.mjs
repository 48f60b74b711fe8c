// Gives a session a title of one's own instead of the one that its first prompt gave it.
import { createSession } from "tinman/sdk";

const session = await createSession();
await session.send("Just reply OK.");
console.log(session.title);
await session.rename("A better name");
console.log(session.title);
await session.close();
