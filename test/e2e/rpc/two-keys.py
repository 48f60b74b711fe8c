"""Opens a session with one key, loads it with another, and asks for what was said under the first.

KEY1, KEY2 and TOKEN come from the environment, and so does the program's command, as TINMAN.
"""
import json
import os
import subprocess

TOKEN = os.environ["TOKEN"]
FORMATS = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]


class Client:
    def __init__(self, key):
        env = {**os.environ, "FACTORY_API_KEY": key}
        self.process = subprocess.Popen(
            [os.environ["TINMAN"], *FORMATS], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.ids = 0

    def request(self, method, **params):
        self.ids += 1
        envelope = {"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request"}
        message = {**envelope, "id": str(self.ids), "method": f"droid.{method}", "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return next(m for m in self.messages() if m["type"] == "response" and m["id"] == str(self.ids))

    def messages(self):
        for line in self.process.stdout:
            yield json.loads(line)

    def turn(self, text):
        """The text of the deltas, up to idle."""
        self.request("add_user_message", text=text)
        said = ""
        for message in self.messages():
            notice = message.get("params", {}).get("notification", {})
            if notice.get("type") == "assistant_text_delta":
                said += notice["textDelta"]
            if notice.get("newState") == "idle":
                return said
        raise SystemExit("the program ended within a turn")

    def close(self):
        self.process.stdin.close()
        if self.process.wait(timeout=20) != 0:
            raise SystemExit(f"the program ended with {self.process.returncode}")


def initialize(client):
    level = {"machineId": "two-keys", "cwd": os.getcwd(), "autonomyLevel": "auto-low"}
    return client.request("initialize_session", **level)["result"]["sessionId"]


first = Client(os.environ["KEY1"])
session_id = initialize(first)
print("turn1.sessionId", session_id)
first.turn(f"The token is {TOKEN}. Just reply OK.")
first.close()

second = Client(os.environ["KEY2"])
initialize(second)
loaded = second.request("load_session", sessionId=session_id)
print("turn2.load_session.ok", json.dumps("result" in loaded))
print("token.found_in_turn2", TOKEN in second.turn("What token did I tell you? Reply ONLY the token."))
second.close()
