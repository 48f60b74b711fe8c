// An in-process backend for testing SDK code: no program, and always the same answer.
import { createSession, linkedConnection } from "tinman/sdk";

async function connect() {
  const [connection, backend] = linkedConnection();
  const send = (message) => backend.send(JSON.stringify({ jsonrpc: "2.0", factoryApiVersion: "1.0.0", ...message }));
  const notify = (notification) =>
    send({ type: "notification", method: "droid.session_notification", params: { notification } });
  const results = { "droid.initialize_session": { sessionId: "s-1", session: { messages: [] }, settings: {} } };

  async function serve() {
    for await (const { text } of backend.incoming) {
      const { id, method, params } = JSON.parse(text);
      send({ type: "response", id, result: results[method] ?? {} });
      if (method !== "droid.add_user_message") continue;
      const content = [{ type: "text", text: `You said: ${params.text}` }];
      notify({ type: "create_message", message: { id: "m-1", role: "assistant", content } });
      notify({ type: "droid_working_state_changed", newState: "idle" });
    }
  }
  void serve();
  return connection;
}

const session = await createSession({ connect });
console.log(await session.send("Hello!", { id: "turn-1" }));
await session.close();
