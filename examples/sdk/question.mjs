// Answers the questions of the agent: a text for each of them, or a list of texts where several may be chosen.
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
