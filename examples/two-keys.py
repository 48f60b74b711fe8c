#!/usr/bin/env python3
"""One session with two keys: created with KEY1, loaded and continued with KEY2. Sessions are independent of keys.

    KEY1=... KEY2=... python3 two-keys.py [executable]

KEY_VARIABLE names the variable that the model's provider reads, such as ANTHROPIC_API_KEY. FACTORY_API_KEY is also set.
"""
import json
import os
import secrets
import shutil
import subprocess
import sys

wanted = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TINMAN", "tinman")
executable = shutil.which(wanted) or sys.exit(f"{wanted}: not found")
key1, key2 = os.environ.get("KEY1"), os.environ.get("KEY2")
if not key1 or not key2:
    print("Set KEY1 and KEY2.", file=sys.stderr)
    sys.exit(2)
variable = os.environ.get("KEY_VARIABLE", "FACTORY_API_KEY")
formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]
versions = {"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.15.0"}


def converse(key, method, params, text):
    """One process with this key, and one turn. `opened` is the response to the request that opens the session."""
    env = {**os.environ, "FACTORY_API_KEY": key, variable: key}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    opened, answer = {}, ""
    with subprocess.Popen([executable, "exec", *formats], env=env, **pipes) as child:

        def send(**message):
            child.stdin.write(json.dumps({**versions, **message}) + "\n")
            child.stdin.flush()

        send(type="request", id="open", method=f"droid.{method}", params=params)
        for line in child.stdout:
            message = json.loads(line)
            if message.get("id") == "open":
                opened = message
                if "result" in message:
                    send(type="request", id="say", method="droid.add_user_message", params={"text": text})
            if message["type"] == "request":
                # No user to ask: decline permissions and questions.
                no = {"selectedOption": "cancel", "cancelled": True, "answers": []}
                send(type="response", id=message["id"], result=no)
            news = message.get("params", {}).get("notification", {})
            if news.get("type") == "assistant_text_delta":
                answer += news["textDelta"]
            error = message.get("error") or (news if news.get("type") == "error" else None)
            if error:
                print(error["message"], file=sys.stderr)
            if news.get("type") == "agent_turn_completed" and news["reason"] != "completed":
                print(f"turn ended: {news['reason']}", file=sys.stderr)
            if "error" in message or news.get("newState") == "idle":
                child.stdin.close()
    return opened, answer


token = f"TOKEN-{secrets.token_hex(6)}"
first = {"machineId": "example", "cwd": os.getcwd(), "autonomyLevel": "off"}
opened, _ = converse(key1, "initialize_session", first, f"The token is {token}. Just reply OK.")
session_id = opened.get("result", {}).get("sessionId")
print(f"turn1.sessionId {session_id}")

question = "What token did I tell you? Reply ONLY the token."
opened, answer = converse(key2, "load_session", {"sessionId": session_id}, question)
print(f"turn2.load_session.ok {'true' if 'result' in opened else 'false'}")
print(f"token.found_in_turn2 {token in answer}")
sys.exit(0 if token in answer else 1)
