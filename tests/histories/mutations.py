#!/usr/bin/env python3
"""Takes out one safeguard after another and looks whether anything notices.

For each mutation: a copy of the tree, the change (its old text has to stand there exactly once), the engine's own tests and,
where none fails, histories until the first that breaks (`--both`: these in any case). Prints a table; exit code 1 when one
survives.

    tests/histories/mutations.py [--only NAME ...] [--list] [--seeds 10000] [--both] [--work FOLDER]

All builds share one target folder of their own, so that only the changed crate is built again; never the tree's, because
cargo can't tell a mutated crate from the real one there. Results are kept in the work folder (`results.json`): a second call goes on where the first ended; `--only` plays again what it names.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GATE = "src/engine/gate/"
RUN = "src/engine/executor/run.rs"
WAVE = "src/engine/executor/wave.rs"
SEND = "src/engine/executor/send.rs"
WISH = "src/engine/executor/wish.rs"
SOURCE = "src/engine/executor/source.rs"
CONTENT = "src/engine/executor/content.rs"
READY = "src/engine/executor/ready.rs"
VERDICT = "src/engine/executor/verdict.rs"
JOURNAL = "src/engine/journal/mod.rs"
ACCOUNT = "src/cli/account_port.rs"


def gate(name, function):
    """Takes a gate out of the list of those that look at one action."""
    return (f"gate: {name}", GATE + "mod.rs", f"    {function},\n", "", 1)


# name, file, old text, new text; a fifth field says how many gates the list loses.
MUTATIONS = [
    gate("read-only", "switch::read_only"),
    gate("kill switch", "switch::kill_switch"),
    gate("freeze", "freeze::freeze"),
    gate("identity", "cluster::identity"),
    gate("insecure", "cluster::insecure"),
    gate("not complete", "evidence::not_complete"),
    gate("ownership", "evidence::ownership"),
    gate("settling", "evidence::settling"),
    gate("access", "access::access"),
    gate("policy", "policy::deny"),
    ("gate: policy cap", GATE + "mod.rs", "    policy::cap(candidates, around, &mut gated);\n",
     "    let _ = policy::cap;\n"),
    ("gate: brake", GATE + "mod.rs", "    brake::brake(candidates, around, &mut gated);\n",
     "    let _ = brake::brake;\n"),
    ("gate: dependency", GATE + "mod.rs", "    dependency::dependency(candidates, &mut gated);\n",
     "    let _ = dependency::dependency;\n"),
    ("gate: policy tier", GATE + "mod.rs", "policy::raise(own, candidate, around)",
     "{ let _ = policy::raise; own }"),
    ("gate: empty set", GATE + "evidence.rs", "    if wanted > 0 {\n", "    if wanted < usize::MAX {\n"),
    ("approve: blocked actions", "src/engine/approve.rs", "action.selected && action.blocked_by.is_empty()",
     "action.selected"),
    ("approve: expiry", "src/engine/approve.rs", "    if now >= plan.expires_at {\n",
     "    if now >= Timestamp::MAX {\n"),
    ("read before a send", WAVE, "        if let Some(why) = wish.hindrance(reading) {\n",
     "        if let Some(why) = wish.hindrance(reading).filter(|_| false) {\n"),
    ("uid precondition", SEND, '{ "uid": uid, "resourceVersion": resource_version },\n',
     '{ "resourceVersion": resource_version, "_": uid },\n'),
    ("resourceVersion precondition", SEND, '{ "uid": uid, "resourceVersion": resource_version },\n',
     '{ "uid": uid, "_": resource_version },\n'),
    ("both preconditions", SEND, '{ "uid": uid, "resourceVersion": resource_version },\n',
     '{ "_": uid, "__": resource_version },\n'),
    ("version of a change", CONTENT, "                resource_version: bound.map(|(_, version)| version),\n",
     "                resource_version: bound.map(|(_, version)| version).filter(|_| false),\n"),
    ("version of a source", SOURCE, "    if seen.resource_version != bound.resource_version {\n",
     "    if seen.resource_version.is_empty() {\n"),
    ("uid of a source", SOURCE, "    if seen.uid != bound.uid {\n", "    if seen.uid.is_empty() {\n"),
    ("a source without the key", SOURCE,
     "    let empty = |key: &&String| content.get(key).is_none_or(|bytes| bytes.is_empty());\n",
     "    let empty = |key: &&String| key.is_empty();\n"),
    ("the source before another attempt", WAVE, "(self.ports.clusters, clock, one.action).await.err();\n",
     "(self.ports.clusters, clock, one.action).await.err().filter(|_| false);\n"),
    ("compare before write", WAVE, "        if wish.is_fulfilled(&action.target.kind, reading) {\n",
     "        if wish.is_fulfilled(&action.target.kind, reading) && false {\n"),
    ("backup of what is overwritten", WISH, "            Self::Change { patch, .. } => !patch.data.is_empty(),\n",
     "            Self::Change { .. } => false,\n"),
    ("somebody wrote since, before an undo", "src/engine/undo/inverse.rs",
     "        Some(version) if version == resource_version => Ok(()),\n", "        Some(_) if !resource_version.is_empty() => Ok(()),\n"),
    ("fsync", JOURNAL, "self.disk.append(&bytes).and_then(|()| self.disk.sync())", "self.disk.append(&bytes)"),
    ("a failed journal stays failed", JOURNAL, "            self.health = Health::Failed;\n", ""),
    ("judge again", WAVE, "                Some(Again::Differs(why)) => self.end(action,",
     "                Some(Again::Differs(_)) if action.tier != crate::engine::Tier::T0 => same.push(*action),\n"
     "                Some(Again::Differs(why)) => self.end(action,"),
    ("look back after a wave", RUN, "            self.look_back(&deleted, Duration::ZERO).await?;\n", "            drop(deleted);\n"),
    ("look back at the end", RUN, "        self.look_back(&deleted, HELD_PATIENCE).await\n", "        drop(deleted);\n        Ok(())\n"),
    ("identity before a wave", RUN, "            self.check_gates(cluster).await?;\n",
     "            self.check_switches()?;\n"),
    ("identity after a wave", RUN, "            came.and(confirmed)?;\n", "            drop(confirmed);\n            came?;\n"),
    ("identity before a restore", RUN, "        let came = match self.check_gates(&action.cluster).await {\n",
     "        let came = match self.check_switches() {\n"),
    ("switches between groups", WAVE, "                if let Err(halt) = self.check_switches() {\n",
     "                if let Err(halt) = Ok::<(), Halt>(()) {\n"),
    ("all switches", RUN, "        if let Some(blocked) = self.ports.switches.shut(now) {\n",
     "        if let Some(blocked) = self.ports.switches.shut(now).filter(|_| false) {\n"),
    ("stop", RUN, "        if self.ports.stop.load(Ordering::SeqCst) {\n            return Err(Halt::Stopped);\n        }\n        let now",
     "        let now"),
    ("expiry in mid-run", RUN, "        if now >= until {\n", "        if now >= jiff::Timestamp::MAX {\n"),
    ("intent before send", WAVE, "            records.push(one.intent(&plan, at));\n",
     "            let _ = one.intent(&plan, at);\n"),
    ("backup before intent", WAVE, "                records.push(Record::Backup { plan: plan.clone(), action, file, digest });\n",
     "                drop(Record::Backup { plan: plan.clone(), action, file, digest });\n"),
    ("a backup that failed", WAVE,
     'self.ports.vault.seal(&seen.json).map_err(|why| End::gated(format!("backup: {why}")))?;\n'
     "                self.backups.insert(action.id.clone(), sealed);\n",
     "self.ports.vault.seal(&seen.json);\n"
     "                if let Ok(sealed) = sealed {\n                    self.backups.insert(action.id.clone(), sealed);\n                }\n"),
    # To read only before another attempt is as good: what is taken out here is to ask at all.
    ("an unclear answer counts as failed", VERDICT, "        Answer::Ambiguous => None,\n",
     '        Answer::Ambiguous => return Next::End(End::failed("no answer")),\n'),
    ("an unclear answer counts as done", VERDICT, "        Answer::Ambiguous => None,\n",
     "        Answer::Ambiguous => return Next::End(End::Done(VerifiedState::Gone)),\n"),
    ("read before another attempt", WAVE, "            match (doubted, one.wish.hindrance(&reading), source) {\n",
     "            match (doubted.filter(|_| false), one.wish.hindrance(&reading).filter(|_| false), source) {\n"),
    ("doubt is not failure", READY, "        if self.is_in_doubt() { End::Unknown", "        if false { End::Unknown"),
    # The read when the wave was prepared is as old as the requests before; only the one right before counts.
    ("tags right before a cloud's delete", ACCOUNT, "        if cloud_version(&resource.tags) != bound {\n",
     "        if cloud_version(&resource.tags) != bound && matches!(write, Write::Change { .. }) {\n"),
    ("another deleter was first", ACCOUNT, "            Some(409) => match self.read_cloud(cloud).await {\n",
     "            Some(0) => match self.read_cloud(cloud).await {\n"),
    ("recovery reads", "src/engine/executor/recover.rs", "            let reading = port.read(&sent.target).await;\n",
     "            let reading = super::ports::Reading::Absent;\n            let _ = port;\n"),
]


def run(command, cwd, target):
    """Runs a command in the copy; answers its exit code and everything it said."""
    env = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def copy_tree(work):
    tree = work / "tree"
    if tree.exists():
        shutil.rmtree(tree)
    ignored = shutil.ignore_patterns("target", ".git")
    shutil.copytree(ROOT, tree, ignore=ignored)
    return tree


def mutate(tree, mutation):
    name, file, old, new, *lost = mutation
    path = tree / file
    text = path.read_text()
    found = text.count(old)
    if found != 1:
        sys.exit(f"{name}: the text to change stands {found} times in {file}, not once:\n{old}")
    text = text.replace(old, new)
    if lost:
        size = re.search(r"SINGLE_GATES: \[Gate; (\d+)\]", text)
        text = text.replace(size.group(0), f"SINGLE_GATES: [Gate; {int(size.group(1)) - lost[0]}]")
    path.write_text(text)


def caught_by_tests(tree, target):
    code, said = run(["cargo", "test", "--lib", "--", "engine", "account_port"], tree, target)
    failed = re.findall(r"^test (\S+) \.\.\. FAILED$", said, re.M)
    if code != 0 and not failed:
        sys.exit(f"the mutated tree does not build:\n{said[-4000:]}")
    return failed


def caught_by_histories(tree, target, seeds):
    command = ["cargo", "run", "--example", "histories", "--", "--first", "--seeds", str(seeds)]
    code, said = run(command, tree, target)
    found = re.search(r"--seed (\d+) --trace   (.*)", said)
    if code != 0 and not found and "too rare" not in said:
        sys.exit(f"the histories of the mutated tree can't be played:\n{said[-4000:]}")
    return f"seed {found.group(1)}: {found.group(2)[:110]}" if found else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--both", action="store_true", help="histories as well when a test failed")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target" / "mutations")
    args = parser.parse_args()
    if args.list:
        print("\n".join(mutation[0] for mutation in MUTATIONS))
        return
    unknown = set(args.only) - {mutation[0] for mutation in MUTATIONS}
    if unknown:
        sys.exit(f"there is no mutation {sorted(unknown)}; --list names them")
    args.work.mkdir(parents=True, exist_ok=True)
    kept = args.work / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for mutation in MUTATIONS:
        name = mutation[0]
        if (args.only and name not in args.only) or (name in results and not args.only):
            continue
        tree = copy_tree(args.work)
        mutate(tree, mutation)
        target = args.work.resolve() / "target"
        failed = caught_by_tests(tree, target)
        seed = caught_by_histories(tree, target, args.seeds) if args.both or not failed else ""
        results[name] = {"tests": failed, "histories": seed}
        kept.write_text(json.dumps(results, indent=2))
        print(f"{name}: {len(failed)} tests, {seed or 'no history'}", file=sys.stderr, flush=True)
    show(results)


def show(results):
    print("| mutation | named tests that fail | histories |\n| --- | --- | --- |")
    survived = []
    for name, found in results.items():
        tests, seed = found["tests"], found["histories"]
        named = ", ".join(f"`{test.split('::')[-1]}`" for test in tests[:2])
        more = f" and {len(tests) - 2} more" if len(tests) > 2 else ""
        print(f"| {name} | {named + more or '–'} | {seed or '–'} |")
        if not tests and not seed:
            survived.append(name)
    if survived:
        sys.exit(f"nothing noticed: {', '.join(survived)}")


if __name__ == "__main__":
    main()
