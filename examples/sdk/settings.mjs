// Changes what an open session can do without asking.
import { createSession } from "tinman/sdk";

const session = await createSession({ autonomyLevel: "off" });
const refused = await session.send("create file hello.txt with Hello!");
console.log(`${session.settings.autonomyLevel}: ${refused.status}`);

const { autonomyLevel } = await session.updateSettings({ autonomyLevel: "low" });
const done = await session.send("create file hello.txt with Hello!");
console.log(`${autonomyLevel}: ${done.status}`);
await session.close();
