#!/usr/bin/env python3
"""One session in two processes: the first learns a password, the second loads the session and recalls it.

    python3 resume.py [executable]
"""
import json
import os
import shutil
import subprocess
import sys

wanted = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TINMAN", "tinman")
executable = shutil.which(wanted) or sys.exit(f"{wanted}: not found")
formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]
versions = {"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.15.0"}


def converse(method, params, text):
    """One process and one turn: opens a session with this request, sends the text, and returns both responses."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    opened, answer = None, ""
    with subprocess.Popen([executable, "exec", *formats], **pipes) as child:

        def send(**message):
            child.stdin.write(json.dumps({**versions, **message}) + "\n")
            child.stdin.flush()

        send(type="request", id="open", method=f"droid.{method}", params=params)
        for line in child.stdout:
            message = json.loads(line)
            if "error" in message:
                sys.exit(message["error"]["message"])
            if message.get("id") == "open":
                opened = message["result"]
                send(type="request", id="say", method="droid.add_user_message", params={"text": text})
            if message["type"] == "request":
                # No user to ask: decline permissions and questions.
                no = {"selectedOption": "cancel", "cancelled": True, "answers": []}
                send(type="response", id=message["id"], result=no)
            news = message.get("params", {}).get("notification", {})
            if news.get("type") == "assistant_text_delta":
                answer += news["textDelta"]
            if news.get("type") == "error":
                sys.exit(news["message"])
            if news.get("type") == "agent_turn_completed" and news["reason"] != "completed":
                sys.exit(f"turn ended: {news['reason']}")
            if news.get("newState") == "idle":
                child.stdin.close()  # The end of its input ends the process.
    if opened is None:
        sys.exit("The program exited without a response.")
    return opened, answer


first = {"machineId": "example", "cwd": os.getcwd(), "autonomyLevel": "off"}
opened, answer = converse("initialize_session", first, "The password is DOLPHIN-2288. Just reply OK.")
session_id = opened["sessionId"]
print(f"sessionId {session_id}")
print(f"turn 1: {answer}")

question = "What password did I tell you? Reply ONLY the password."
opened, answer = converse("load_session", {"sessionId": session_id}, question)
print(f"load_session -> {len(opened['session']['messages'])} history messages")
print(f"turn 2: {answer}")

is_remembered = "DOLPHIN-2288" in answer
print("RESULT:", "SUCCESS" if is_remembered else "FAILED")
sys.exit(0 if is_remembered else 1)
