#!/usr/bin/env python3
"""Sends a prompt that makes the agent ask a question, and answers it.

    python3 question.py [executable] [answer ...]

Answers are used in order; further questions are asked at the terminal. Nothing is permitted here.
The exit code is 0 if the turn completed.
"""
import json
import os
import shutil
import subprocess
import sys

wanted = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TINMAN", "tinman")
executable = shutil.which(wanted) or sys.exit(f"{wanted}: not found")
prepared = sys.argv[2:]
text = "ask me which colour I want: red or blue"
formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]
versions = {"jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.15.0"}


def answers_to(questions):
    """All answers or none, because an incomplete set is an error for the agent."""
    answers = []
    for one in questions:
        print(f"\n[{one['topic']}] {one['question']} {' / '.join(one['options'])}")
        try:
            answer = prepared.pop(0) if prepared else input()
        except EOFError:
            return {"cancelled": True, "answers": []}
        answers.append({"index": one["index"], "question": one["question"], "answer": answer})
    return {"cancelled": False, "answers": answers}


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
        if message.get("method") == "droid.ask_user":
            send(type="response", id=message["id"], result=answers_to(params["questions"]))
        if message.get("method") == "droid.request_permission":
            send(type="response", id=message["id"], result={"selectedOption": "cancel"})
        if news.get("type") == "assistant_text_delta":
            print(news["textDelta"], end="", flush=True)
        if news.get("type") == "assistant_text_complete":
            print()
        if news.get("type") == "agent_turn_completed":
            code = 0 if news["reason"] == "completed" else 1
            if code == 1:
                print(f"turn ended: {news['reason']}", file=sys.stderr)
        if error or news.get("newState") == "idle":
            child.stdin.close()
sys.exit(code)
