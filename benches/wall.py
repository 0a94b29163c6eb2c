#!/usr/bin/env python3
"""The wall screen of the console, and keys while a session is recorded. Python 3 standard library only.

wall.py PROGRAM [SECONDS]   runs `PROGRAM demo` behind a pty of 200x50, first without, then with `--record FILE`, and
                            prints idle CPU and bytes a second on the wall, and milliseconds from a key to its first byte
"""
import os
import shlex
import statistics
import sys
import tempfile
import time

from pty_reader import Program

KEYS = 60


def measure(program, options, seconds):
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        command = " ".join(shlex.quote(word) for word in [program, "demo", *options])
        console = Program(command, env)
        if not console.wait("worst first", 60):
            sys.exit("the console did not start")
        time.sleep(5)
        took, missed = [], 0
        for number in range(KEYS):
            # Down and up again, so that no end of the list swallows a key.
            answered, lost = console.press(b"jk"[number % 2 : number % 2 + 1], 1)
            took, missed = took + answered, missed + lost
        console.type(b"W")
        time.sleep(2)
        cpu, written = console.usage(seconds)
        console.end()
    keys = sorted(took)
    return {
        "cpu": cpu,
        "bytes": written,
        "median": statistics.median(keys) if keys else float("nan"),
        "p95": keys[int(len(keys) * 0.95) - 1] if keys else float("nan"),
        "missed": missed,
    }


def main():
    program = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    print("| demo | CPU on the wall | bytes a second | key, median | key, p95 | keys without an answer |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, options in [("as it is", []), ("--record", ["--record", os.path.join(folder, "session")])]:
            found = measure(program, options, seconds)
            print(
                f"| {name} | {found['cpu']:.1f} % | {found['bytes']:.0f} | {found['median']:.1f} ms "
                f"| {found['p95']:.1f} ms | {found['missed']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
