#!/usr/bin/env python3
"""Runs a terminal program behind a pty and measures it. Python 3 standard library only.

pty_reader.py run NAME COMMAND [options]   prints one line of JSON
pty_reader.py table FILE                   prints medians of such lines as a table; ratios are to the first name

While the program runs, bytes are only timestamped; the screen is computed afterwards.
"""
import argparse
import fcntl
import json
import os
import pty
import re
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
import unicodedata

COLUMNS, LINES = 200, 50
TICKS = os.sysconf("SC_CLK_TCK")
# What a terminal answers: cursor position, device attributes, text and background colour.
ANSWERS = [
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b]10;?", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
]
SEQUENCE = re.compile(
    r"\x1b\[([?>=<]?)([0-9;:]*)[ !\"'$]*([@-~])|\x1b[\]P_^].*?(?:\x07|\x1b\\)|\x1b[()*+].|\x1b[^\[]", re.S
)


class Screen:
    """The text of a terminal: moves, erasing, inserted and deleted lines and characters, scroll regions."""

    def __init__(self):
        self.cells = [[" "] * COLUMNS for _ in range(LINES)]
        self.x = self.y = self.top = 0
        self.bottom = LINES - 1

    def feed(self, text):
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    return text[at:]
                if found.group(3) and not found.group(1):
                    self.handle(found.group(3), [int(n or 0) for n in re.split("[;:]", found.group(2))])
                elif found.group(0) == "\x1bM":
                    self.y > self.top and self.move(self.x, self.y - 1) or self.scroll(self.top, -1)
                at = found.end()
                continue
            self.put(text[at])
            at += 1
        return ""

    def put(self, letter):
        if letter == "\r":
            self.x = 0
        elif letter == "\n":
            if self.y == self.bottom:
                self.scroll(self.top, 1)
            else:
                self.y = min(self.y + 1, LINES - 1)
        elif letter == "\b":
            self.x = max(self.x - 1, 0)
        elif letter == "\t":
            self.x = min(self.x // 8 * 8 + 8, COLUMNS - 1)
        elif letter >= " " and not unicodedata.combining(letter):
            width = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
            if self.x + width > COLUMNS:
                self.put("\r")
                self.put("\n")
            self.cells[self.y][self.x : self.x + width] = [letter] + [""] * (width - 1)
            self.x += width

    def move(self, x, y):
        self.x, self.y = max(0, min(x, COLUMNS - 1)), max(0, min(y, LINES - 1))
        return True

    def scroll(self, top, lines):
        """Moves the lines from `top` to the end of the region up, or down."""
        region = self.cells[top : self.bottom + 1]
        blank = [[" "] * COLUMNS for _ in range(min(abs(lines), len(region)))]
        region = region[len(blank) :] + blank if lines > 0 else blank + region[: len(region) - len(blank)]
        self.cells[top : self.bottom + 1] = region

    def handle(self, letter, numbers):
        count, line = max(numbers[0], 1), self.cells[self.y]
        if letter in "Hf":
            self.move((numbers + [1])[1] - 1 if len(numbers) > 1 else 0, count - 1)
        elif letter in "ABCDEFGd":
            x, y = self.x, self.y
            moves = {"A": (x, y - count), "B": (x, y + count), "C": (x + count, y), "D": (x - count, y)}
            moves |= {"E": (0, y + count), "F": (0, y - count), "G": (count - 1, y), "d": (x, count - 1)}
            self.move(*moves[letter])
        elif letter == "J":
            start, end = {0: (self.y + 1, LINES), 1: (0, self.y)}.get(numbers[0], (0, LINES))
            self.cells[start:end] = [[" "] * COLUMNS for _ in range(end - start)]
            if numbers[0] < 2:
                self.handle("K", numbers)
        elif letter == "K":
            start, end = {0: (self.x, COLUMNS), 1: (0, self.x + 1)}.get(numbers[0], (0, COLUMNS))
            line[start:end] = [" "] * len(line[start:end])
        elif letter == "X":
            line[self.x : self.x + count] = [" "] * len(line[self.x : self.x + count])
        elif letter == "P":
            self.cells[self.y] = line[: self.x] + line[self.x + count :] + [" "] * min(count, COLUMNS - self.x)
        elif letter == "@":
            self.cells[self.y] = (line[: self.x] + [" "] * count + line[self.x :])[:COLUMNS]
        elif letter in "LM" and self.top <= self.y <= self.bottom:
            self.scroll(self.y, count if letter == "M" else -count)
        elif letter in "ST":
            self.scroll(self.top, count if letter == "S" else -count)
        elif letter == "r":
            self.top, self.bottom = count - 1, (numbers[1] or LINES) - 1 if len(numbers) > 1 else LINES - 1
            self.move(0, 0)
        elif letter == "b" and self.x:
            for _ in range(count):
                self.put(line[self.x - 1])

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)


class Program:
    """A program behind a pty, and what it wrote, with times."""

    def __init__(self, command, env):
        self.log, self.total, self.ended = [], 0, False
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execvpe("/bin/sh", ["sh", "-c", "exec " + command], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        tail = b""
        while True:
            try:
                chunk = os.read(self.fd, 65536)
            except OSError:
                chunk = b""
            if not chunk:
                self.ended = True
                return
            self.log.append((time.perf_counter(), chunk))
            self.total += len(chunk)
            seen = tail + chunk
            for question, answer in ANSWERS:
                if question in seen:
                    self.type(answer)
            # A question may be cut; one that was answered may not be seen twice.
            tail = seen[-5:] if not any(question in seen for question, _ in ANSWERS) else b""

    def type(self, keys):
        try:
            os.write(self.fd, keys)
        except OSError:
            pass

    def times(self, patterns):
        """When the screen matched each pattern first, in seconds; the last screen."""
        screen, rest, found = Screen(), "", {}
        for at, chunk in self.log:
            rest = screen.feed(rest + chunk.decode("utf-8", "replace"))
            left = [pattern for pattern in patterns if pattern and pattern not in found]
            if left:
                text = screen.text()
                found |= {pattern: at - self.began for pattern in left if re.search(pattern, text)}
        return [found.get(pattern) for pattern in patterns], screen.text()

    def wait(self, pattern, seconds):
        end, seen = time.perf_counter() + seconds, -1
        while time.perf_counter() < end and not self.ended:
            if len(self.log) != seen:
                seen = len(self.log)
                if self.times([pattern])[0][0] is not None:
                    return True
            time.sleep(0.02)
        return False

    def press(self, key, times, gap=0.15):
        """Milliseconds from each key to the first byte, and how many keys had no answer within a second."""
        took, missed = [], 0
        for _ in range(times):
            # After 25 ms of silence: a label that changes is not an answer.
            end = time.perf_counter() + 0.5
            while time.perf_counter() < end and self.log and time.perf_counter() - self.log[-1][0] < 0.025:
                time.sleep(0.002)
            before, at = len(self.log), time.perf_counter()
            self.type(key)
            while len(self.log) == before and time.perf_counter() < at + 1:
                time.sleep(0.0002)
            if len(self.log) > before:
                took.append((self.log[before][0] - at) * 1000)
            else:
                missed += 1
            time.sleep(max(0, gap - (time.perf_counter() - at)))
        return took, missed

    def family(self):
        children = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                parent = int(open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
        found, left = [], [self.pid]
        while left:
            found.append(left.pop())
            left += children.get(found[-1], [])
        return found

    def over_family(self, read):
        total = 0
        for pid in self.family():
            try:
                total += read(pid)
            except (OSError, AttributeError):
                pass
        return total

    def cpu(self):
        fields = lambda pid: open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        return self.over_family(lambda pid: sum(map(int, fields(pid)[11:13]))) / TICKS

    def memory(self):
        status = lambda pid: open(f"/proc/{pid}/status").read()
        return self.over_family(lambda pid: int(re.search(r"VmRSS:\s+(\d+)", status(pid)).group(1))) / 1024

    def usage(self, seconds):
        cpu, total, began = self.cpu(), self.total, time.perf_counter()
        time.sleep(seconds)
        took = time.perf_counter() - began
        return 100 * (self.cpu() - cpu) / took, (self.total - total) / took

    def end(self):
        # Only this program and its children, by id.
        for which in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.family():
                try:
                    os.kill(pid, which)
                except OSError:
                    pass
            time.sleep(0.3)
        try:
            os.waitpid(self.pid, 0)
        except OSError:
            pass
        os.close(self.fd)


def unescaped(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


def key_figures(program, args):
    total = program.total
    took, missed = program.press(unescaped(args.key), args.keys)
    took.sort()
    median = statistics.median(took) if took else None
    p99 = took[min(len(took) - 1, int(len(took) * 0.99))] if took else None
    return median, p99, missed, (program.total - total) / max(1, args.keys)


def set_updates(path, rate):
    if path:
        with open(path, "w") as pipe:
            pipe.write(f"{rate}\n")


def run(args):
    home = tempfile.mkdtemp(prefix="rivals-")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_") and name not in ("TMUX", "STY")}
    more = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": home, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    program = Program(args.command, kept | more | {"KUBECONFIG": args.kubeconfig})
    try:
        pressed = program.began
        for step in filter(None, args.steps.split("|")):
            what, value = step.split(":", 1)
            if what == "wait" and not program.wait(value, args.limit):
                sys.exit(f"{args.name}: {value!r} was not shown\n{program.times([])[1]}")
            if what == "key":
                pressed = time.perf_counter()
                program.type(unescaped(value))
        if not program.wait(args.full or args.row, args.limit):
            sys.exit(f"{args.name}: {args.full or args.row!r} was not shown\n{program.times([])[1]}")
        time.sleep(args.settle)
        (row, full), screen = program.times([args.row, args.full])
        if args.screen:
            open(args.screen, "w").write(screen)
        figures = {"name": args.name, "first row s": row, "first row after the key s": None, "all rows s": full}
        if args.steps and row is not None:
            figures["first row after the key s"] = max(0, row - (pressed - program.began))
        figures["RSS MB"] = program.memory()
        figures["idle CPU %"], figures["idle bytes/s"] = program.usage(args.idle)
        median, p99, missed, size = key_figures(program, args)
        figures |= {"key median ms": median, "key p99 ms": p99, "keys without answer": missed, "bytes per key": size}
        if args.pipe:
            set_updates(args.pipe, args.updates)
            time.sleep(2)
            label = f"{args.updates} updates/s: "
            figures[label + "CPU %"], figures[label + "bytes/s"] = program.usage(args.idle)
            median, p99, missed, size = key_figures(program, args)
            figures |= {label + "key median ms": median, label + "key p99 ms": p99, label + "bytes per key": size}
            figures[label + "RSS MB"] = program.memory()
        print(json.dumps(figures), flush=True)
    finally:
        set_updates(args.pipe, 0)
        program.end()


def table(args):
    runs = {}
    for line in open(args.file):
        figures = json.loads(line)
        runs.setdefault(figures.pop("name"), []).append(figures)
    names, measures = list(runs), list(dict.fromkeys(key for rows in runs.values() for row in rows for key in row))

    def median(name, measure):
        values = [row[measure] for row in runs[name] if row.get(measure) is not None]
        return statistics.median(values) if values else None

    heads = ["measure"] + names + [f"{names[0]} : {name}" for name in names[1:]]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for measure in measures:
        values = [median(name, measure) for name in names]
        if all(value is None for value in values):
            continue
        shown = ["–" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}" for value in values]
        ours = values[0]
        ratios = ["–" if ours is None or not other else f"{ours / other:.2f}" for other in values[1:]]
        print("| " + " | ".join([measure] + shown + ratios) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.set_defaults(perform=run)
    one.add_argument("name")
    one.add_argument("command", help="for sh; KUBECONFIG is set")
    one.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG", ""))
    one.add_argument("--steps", default="", help="wait:REGEX and key:TEXT, separated by |")
    one.add_argument("--row", required=True, help="pattern of a row")
    one.add_argument("--full", default="", help="pattern of a screen that has all rows")
    one.add_argument("--key", default="j")
    one.add_argument("--keys", type=int, default=50)
    one.add_argument("--settle", type=float, default=5)
    one.add_argument("--idle", type=float, default=30)
    one.add_argument("--limit", type=float, default=90)
    one.add_argument("--pipe", default="", help="standard input of the server: updates per second")
    one.add_argument("--updates", type=int, default=500)
    one.add_argument("--screen", default="", help="file for the screen before the measurements")
    both = commands.add_parser("table")
    both.set_defaults(perform=table)
    both.add_argument("file")
    args = parser.parse_args()
    args.perform(args)


if __name__ == "__main__":
    main()
