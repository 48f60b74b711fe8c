#!/usr/bin/env python3
"""Sends a prompt, and asks the user at the terminal for permissions.

    python3 permission.py [--yes|--no] [executable] [prompt]

--yes allows everything once, --no refuses; the default asks. Questions are not answered here.
The exit code is 0 if the turn completed.
"""
import json
import os
import shutil
import subprocess
import sys

words = [word for word in sys.argv[1:] if word not in ("--yes", "--no")]
wanted = words[0] if words else os.environ.get("TINMAN", "tinman")
executable = shutil.which(wanted) or sys.exit(f"{wanted}: not found")
text = words[1] if len(words) > 1 else "create file hello.txt with Hello!"
formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]
versions = {"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.15.0"}


def describe(one):
    """The call's effect, in one or a few lines."""
    details = one["details"]
    if "fullCommand" in details:
        return f"{details['fullCommand']}  ({details['impactLevel']} impact)"
    if details["type"] == "exit_spec_mode":
        return f"the plan:\n{details['plan']}"
    change = details.get("newContent") or details.get("content") or details.get("patchContent") or ""
    return f"{one['toolUse']['name']} {details['filePath']}\n{change}"


def choose(params):
    for one in params["toolUses"]:
        print(f"\n> {describe(one)}")
    if "--yes" in sys.argv:
        return "proceed_once"
    if "--no" in sys.argv:
        return "cancel"
    for number, option in enumerate(params["options"], 1):
        print(f"  {number}. {option['label']}")
    try:
        return {str(number): option["value"] for number, option in enumerate(params["options"], 1)}[input().strip()]
    except (EOFError, KeyError):
        return "cancel"  # Anything but a listed number, or a closed terminal, means no.


code = 1  # Until the turn is completed.
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
with subprocess.Popen([executable, "exec", *formats], **pipes) as child:

    def send(**message):
        child.stdin.write(json.dumps({**versions, **message}) + "\n")
        child.stdin.flush()

    first = {"machineId": "example", "cwd": os.getcwd(), "autonomyLevel": "off"}
    send(type="request", id="open", method="droid.initialize_session", params=first)
    for line in child.stdout:
        message = json.loads(line)
        error, params = message.get("error"), message.get("params", {})
        news = params.get("notification", {})
        if error or news.get("type") == "error":
            print((error or news)["message"], file=sys.stderr)
        elif message.get("id") == "open":
            send(type="request", id="say", method="droid.add_user_message", params={"text": text})
        if message.get("method") == "droid.request_permission":
            send(type="response", id=message["id"], result={"selectedOption": choose(params)})
        if message.get("method") == "droid.ask_user":
            send(type="response", id=message["id"], result={"cancelled": True, "answers": []})
        if news.get("type") == "assistant_text_delta":
            print(news["textDelta"], end="", flush=True)
        if news.get("type") == "assistant_text_complete":
            print()
        if news.get("type") == "agent_turn_completed":
            print(f"turn ended: {news['reason']}")
            code = 0 if news["reason"] == "completed" else 1
        if error or news.get("newState") == "idle":
            child.stdin.close()
sys.exit(code)
