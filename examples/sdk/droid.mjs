// The same with another backend: `droid` from the PATH. Any program that speaks the protocol works.
import { createSession } from "tinman/sdk";

const [executable = "droid"] = process.argv.slice(2);
const session = await createSession({ executable, onWarning: (warning) => console.error(warning) });
const { status, text } = await session.send("Just reply OK.");
console.log(`${status}: ${text}`);
await session.close();
