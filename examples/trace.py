#!/usr/bin/env python3
"""Logs the wire: starts a backend, passes everything on unchanged, and writes each line to a file with its time and
direction. Let the client start it instead of the backend.

    python3 trace.py <file> [command ...]

Without a command: TINMAN, or `tinman`, as a stream-jsonrpc backend.
"""
import os
import signal
import subprocess
import sys
import threading
from datetime import datetime, timezone

if len(sys.argv) < 2:
    sys.exit("usage: python3 trace.py <file> [command ...]")
formats = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]
command = sys.argv[2:] or [os.environ.get("TINMAN", "tinman"), "exec", *formats]

# Private, because a conversation can contain secrets.
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def note(mark, text):
    time = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    os.write(log, f"{time}Z {mark} ".encode() + text + b"\n")


def pass_on(source, target, mark):
    """Logged before it is passed on, so that the file has causes before effects."""
    rest = b""
    while chunk := os.read(source, 65536):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            note(mark, line)
        try:
            target.write(chunk)
            target.flush()
        except (BrokenPipeError, ValueError):
            break  # That side is gone: closing the pipe ends the other one.
    if rest:
        note(mark, rest)


def feed():
    pass_on(sys.stdin.fileno(), backend.stdin, ">")
    try:
        backend.stdin.close()
    except BrokenPipeError:
        pass


try:
    backend = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
except OSError as error:
    sys.exit(str(error))
note("!", f"start {' '.join(command)}".encode())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda received, _: backend.send_signal(received))
threading.Thread(target=feed, daemon=True).start()
pass_on(backend.stdout.fileno(), sys.stdout.buffer, "<")
backend.stdout.close()
code = backend.wait()
note("!", f"exit {code}".encode())
os._exit(code if code >= 0 else 128 - code)
