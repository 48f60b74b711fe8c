#!/usr/bin/env python3
"""One session in two processes: the first is told a word, the second loads the session and is asked for it.

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
    """One process and one turn: opens a session with this request, says the text, and returns both answers."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    opened, answer = None, ""
    with subprocess.Popen([executable, "exec", *formats], **pipes) as child:

        def request(id, name, given):
            message = {**versions, "type": "request", "id": id, "method": f"droid.{name}", "params": given}
            child.stdin.write(json.dumps(message) + "\n")
            child.stdin.flush()

        request("open", method, params)
        for line in child.stdout:
            message = json.loads(line)
            if "error" in message:
                sys.exit(message["error"]["message"])
            if message.get("id") == "open":
                opened = message["result"]
                request("say", "add_user_message", {"text": text})
            news = message.get("params", {}).get("notification", {})
            if news.get("type") == "assistant_text_delta":
                answer += news["textDelta"]
            if news.get("type") == "error":
                sys.exit(news["message"])
            if news.get("newState") == "idle":
                child.stdin.close()  # The end of its input ends the process.
    if opened is None:
        sys.exit("The program ended without an answer.")
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
