// Answers the agent's questions: a string for each, or a list of strings if several can be chosen.
import { createSession } from "tinman/sdk";

const session = await createSession({
  onQuestion: ({ questions }) =>
    questions.map(({ question, options }) => {
      console.log(`? ${question} (${options.join(", ")})`);
      return options.at(-1);
    }),
});
const { text } = await session.send("ask me which colour I want: red or blue");
console.log(text);
await session.close();
