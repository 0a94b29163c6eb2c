#!/usr/bin/env python3
"""Removes one safeguard after another and reports which history notices, and after how many.

The tree is copied once. For each mutation, ordered by file: the change (its old text stands there exactly once), a debug build
of the histories alone, and histories until the first violation or the time limit. What no history notices is given to the
unit tests of the crate it is in. Prints a table; exit code 1 when one survives.

    tests/histories/mutations.py [--only NAME ...] [--list] [--check] [--seconds 60] [--work FOLDER] [--target FOLDER]

`--check` builds nothing: exit code 1 when a text to change does not stand exactly once. Builds have a target folder of their
own, never the tree's, because cargo cannot tell a mutated crate from the real one there. Results are kept in the work folder
(`results.json`): a second call continues where the first ended; `--only` repeats what it names.
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
ENGINE = "crates/core/src/engine/"
GATE = ENGINE + "gate/"
ADMISSION = ENGINE + "admission.rs"
APPROVE = ENGINE + "approve.rs"
MARK = ENGINE + "mark.rs"
RECHECK = ENGINE + "recheck.rs"
RUN = ENGINE + "executor/run.rs"
SCAN = ENGINE + "executor/reference_scan.rs"
WAVE = ENGINE + "executor/wave.rs"
SEND = "crates/fleet/src/kube_cluster/mod.rs"
WRITE = ENGINE + "executor/prepared_write.rs"
SOURCE = ENGINE + "executor/source.rs"
CONTENT = ENGINE + "executor/content.rs"
READY = ENGINE + "executor/ready.rs"
VERDICT = ENGINE + "executor/verdict.rs"
JOURNAL = ENGINE + "journal/mod.rs"
ACCOUNT = "crates/fleet/src/clouds/ibm/port.rs"
FRESH = "crates/operate/src/recheck.rs"
ADMIT = "crates/operate/src/admit.rs"
PLAN = "crates/operate/src/plan.rs"


def gate(name, function):
    """Removes a gate from the list of those that look at one action."""
    return (f"gate: {name}", GATE + "mod.rs", f"    {function},\n", "", 1)


# name, file, old text, new text; a fifth field says how many gates the list loses.
MUTATIONS = [
    gate("read-only", "switch::read_only"),
    gate("kill switch", "switch::kill_switch"),
    gate("freeze", "freeze::freeze"),
    gate("identity", "cluster::identity"),
    gate("insecure", "cluster::insecure"),
    gate("clock", "clock::clock"),
    gate("not complete", "evidence::not_complete"),
    gate("ownership", "evidence::ownership"),
    gate("settling", "evidence::settling"),
    gate("access", "access::access"),
    gate("policy", "policy::deny"),
    ("gate: policy cap", GATE + "mod.rs", "    policy::cap(candidates, around, &mut gated);\n",
     "    let _ = policy::cap;\n"),
    ("gate: brake", GATE + "mod.rs", "        BrakeMode::On => brake::brake(candidates, around, &mut gated),\n",
     "        BrakeMode::On => { let _ = brake::brake; }\n"),
    ("gate: dependency", GATE + "mod.rs", "    dependency::dependency(candidates, &mut gated);\n",
     "    let _ = dependency::dependency;\n"),
    ("gate: policy tier", GATE + "mod.rs", "policy::raise(own, candidate, around)",
     "{ let _ = policy::raise; own }"),
    ("gate: empty set", GATE + "evidence.rs", "    if wanted > 0 {\n", "    if wanted < usize::MAX {\n"),
    ("admission: blocked actions", ADMISSION,
     "plan.actions[*place].selected && plan.actions[*place].blocked_by.is_empty()", "plan.actions[*place].selected"),
    ("admission: actions are judged again", ADMISSION, "        match recheck(&plan, action, current) {\n",
     "        match (RecheckResult::Same, recheck(&plan, action, current)).0 {\n"),
    ("admission: expiry", ADMISSION, "    if now >= plan.expires_at {\n", "    if now >= Timestamp::MAX {\n"),
    ("admission: a plan from the future", ADMISSION, "    if plan.created_at > now {\n",
     "    if plan.created_at > Timestamp::MAX {\n"),
    ("admission: a plan that is valid too long", ADMISSION, "    if valid_for > most {\n",
     "    if valid_for > most.max(SignedDuration::MAX) {\n"),
    ("admission: foreign plans", ADMISSION, "(Provenance::Foreign, ForeignPlan::Refuse) => Err(Refusal::Foreign),",
     "(Provenance::Foreign, ForeignPlan::Refuse) => Ok(()),"),
    ("admission: brake at apply", ADMISSION, "    pull_brake(&plan, current, sent_earlier, &mut admitted);\n",
     "    let _ = pull_brake;\n"),
    ("admission: dependents of refused actions", ADMISSION, "    refuse_dependents(&plan, &mut admitted);\n",
     "    let _ = refuse_dependents;\n"),
    ("mark: any mark is valid", MARK, "            Some(Err(_)) | None => Provenance::Foreign,\n",
     "            Some(Err(_)) => Provenance::Here,\n            None => Provenance::Foreign,\n"),
    ("mark: a missing mark is valid", MARK, "            Some(Err(_)) | None => Provenance::Foreign,\n",
     "            Some(Err(_)) => Provenance::Foreign,\n            None => Provenance::Here,\n"),
    ("approve: a foreign plan is T4", APPROVE, "        Provenance::Foreign => Tier::T4,\n",
     "        Provenance::Foreign => action.tier,\n"),
    ("approve: the whole id from T3 on", APPROVE, "    let whole = highest.tier >= Tier::T3;\n",
     "    let whole = highest.tier > Tier::T4;\n"),
    ("approve: expiry", APPROVE, "    if now >= plan.expires_at {\n", "    if now >= Timestamp::MAX {\n"),
    ("recheck: verdict of a delete", RECHECK, "    if action.is_delete()\n        && let", "    if !action.is_delete()\n        && let"),
    ("recheck: gates that are shut now", RECHECK,
     "    if !now.blocked_by.is_empty() {\n        return RecheckResult::Blocked(now.blocked_by.clone());\n",
     "    if now.blocked_by.len() > 99 {\n        return RecheckResult::Blocked(now.blocked_by.clone());\n"),
    ("recheck: a higher tier", RECHECK, "    if now.tier > action.tier {\n",
     "    if now.tier > action.tier.max(crate::engine::Tier::T4) {\n"),
    ("recheck: target", RECHECK, "    if now.target != action.target {\n",
     "    if now.target.name != action.target.name {\n"),
    ("recheck: source of a copy", RECHECK,
     "    if now.preconditions.source != action.preconditions.source {\n        return Some(Difference::Source);\n",
     "    if now.preconditions.source.is_none() && action.preconditions.source.is_some() {\n"
     "        return Some(Difference::Source);\n"),
    ("recheck: preconditions", RECHECK, "    if !is_of_tags && now.preconditions != action.preconditions {\n",
     "    if !is_of_tags && now.preconditions.uid != action.preconditions.uid && false {\n"),
    ("recheck: change", RECHECK, "    if now.change != action.change {\n", "    if now.verb() != action.verb() {\n"),
    ("recheck: what it rests on", RECHECK, "    if !rests_on_all(action, now, current.names) {\n",
     "    if !rests_on_all(now, now, current.names) {\n"),
    ("recheck: an undo that is not derived", RECHECK,
     "    match undo_difference(action, derived) {\n", "    match undo_difference(derived, derived) {\n"),
    ("recheck: gates of an undo", RECHECK,
     "    if !derived.blocked_by.is_empty() {\n", "    if derived.blocked_by.len() > 99 {\n"),
    ("recheck: lists that are late", FRESH, "        match now.late_list(action) {\n",
     "        match now.late_list(action).filter(|_| false) {\n"),
    ("recheck: a late list is unknown", FRESH,
     "input.observed.iter_mut().filter(|observed| late.contains(observed.id)) {\n",
     "input.observed.iter_mut().filter(|observed| late.contains(observed.id) && false) {\n"),
    ("recheck: lists what actions rest on", FRESH, "rests_on.extend(draft.rests_on.iter().cloned());",
     "rests_on.extend(draft.rests_on.iter().take(1).cloned());"),
    ("recheck: lists of a scan are used once", FRESH, "            // What is sent now changes the lists.\n            self.recent = None;\n", ""),
    ("recheck: lists of a scan become old", FRESH, "if at.elapsed() <= LISTS_AGE_MAX => listed,", "if at.elapsed() <= LISTS_AGE_MAX * 1000 => listed,"),
    ("recheck: the permissions of now", FRESH, "            found.access = access;\n", "            drop(access);\n"),
    ("operate: read-only of the configuration", PLAN, "        (false, true) => ReadOnly::ByConfig,\n",
     "        (false, true) => ReadOnly::Off,\n"),
    ("operate: policy of the configuration", PLAN, "        policy: session.settings.policy.clone(),\n", "        policy: Vec::new(),\n"),
    ("operate: freeze of the configuration", PLAN, "        freeze: safety.freeze.clone(),\n", "        freeze: Vec::new(),\n"),
    ("operate: a foreign plan has to settle", ADMIT, "Rechecker::new(world, names, plan).settling(settled);",
     "Rechecker::new(world, names, plan).settling(settled.min(Duration::ZERO));"),
    ("operate: an earlier run of the same plan", ADMIT, ".filter(|entry| entry.plan == plan)", ".filter(|entry| !entry.plan.is_empty() || entry.plan == plan)"),
    ("read before a send", WRITE, "        let Some(why) = self.conflict(reading) else {",
     "        let Some(why) = self.conflict(reading).filter(|_| false) else {"),
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
    ("compare before write", WRITE, "        if self.is_fulfilled(kind, reading) {\n",
     "        if self.is_fulfilled(kind, reading) && false {\n"),
    ("backup of what is overwritten", WRITE,
     "            Self::Change { patch, .. } => !patch.data.is_empty() || !patch.fields.is_empty(),\n",
     "            Self::Change { .. } => false,\n"),
    ("a change after apply, before an undo", ENGINE + "undo/inverse.rs",
     "        Some(version) if version == resource_version => Ok(()),\n", "        Some(_) if !resource_version.is_empty() => Ok(()),\n"),
    ("fsync", JOURNAL, "self.disk.append(&bytes).and_then(|()| self.disk.sync())", "self.disk.append(&bytes)"),
    ("a failed journal stays failed", JOURNAL, "            self.health = Health::Failed;\n", ""),
    ("judge again", WAVE, "                Some(refused) => self.end(action, ActionResult::refused(refused)),\n",
     "                Some(refused) if action.id.is_empty() => self.end(action, ActionResult::refused(refused)),\n"
     "                Some(_) => same.push(*action),\n"),
    ("reference scan after a wave", RUN, "            self.scan_references(&deleted, Duration::ZERO).await?;\n", "            drop(deleted);\n"),
    ("reference scan at the end", RUN, "        self.scan_references(&deleted, HELD_PATIENCE).await\n", "        drop(deleted);\n        Ok(())\n"),
    ("identity before a wave", RUN,
     "            self.check_gates(cluster).await?;\n            let came", "            self.check_switches()?;\n            let came"),
    ("identity after a wave", RUN, "            came.and(confirmed)?;\n", "            drop(confirmed);\n            came?;\n"),
    ("identity before a restore", SCAN, "        let came = match self.check_gates(&action.cluster).await {\n",
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
     '                let sealed = sealed.map_err(|why| ActionResult::gated(format!("backup: {why}")))?;\n'
     "                self.backups.insert(action.id.clone(), sealed);\n",
     "                if let Ok(sealed) = sealed {\n                    self.backups.insert(action.id.clone(), sealed);\n                }\n"),
    # To read only before another attempt is as good: what is removed here is to ask at all.
    ("an unclear answer counts as failed", VERDICT, "        Answer::Ambiguous => None,\n",
     '        Answer::Ambiguous => return Next::End(ActionResult::failed("no answer")),\n'),
    ("an unclear answer counts as done", VERDICT, "        Answer::Ambiguous => None,\n",
     "        Answer::Ambiguous => return Next::End(ActionResult::Done(VerifiedState::Gone)),\n"),
    ("read before another attempt", WAVE, "            match (doubted, one.write.conflict(&reading), source) {\n",
     "            match (doubted.filter(|_| false), one.write.conflict(&reading).filter(|_| false), source) {\n"),
    ("doubt is not failure", READY, "        if self.is_in_doubt() {\n            ActionResult::Unknown",
     "        if false {\n            ActionResult::Unknown"),
    # The read when the wave was prepared is as old as the requests before; only the one right before counts.
    ("tags right before a cloud's delete", ACCOUNT, "        if cloud_version(&resource.tags) != bound {\n",
     "        if cloud_version(&resource.tags) != bound && matches!(write, Write::Change { .. }) {\n"),
    ("another deleter was first", ACCOUNT, "            Some(409) => match self.read_cloud(cloud).await {\n",
     "            Some(0) => match self.read_cloud(cloud).await {\n"),
    ("recovery reads", ENGINE + "executor/recover.rs", "            let reading = port.read(&sent.target).await;\n",
     "            let reading = super::ports::Reading::Absent;\n            let _ = port;\n"),
]


# The histories without the console and the commands, which they do not use: what a mutation makes cargo build again.
PACKAGE = """[package]
name = "trueup-replay"
version.workspace = true
edition.workspace = true
license.workspace = true

[lib]
path = "lib.rs"

[[example]]
name = "replay"
path = "../../examples/histories.rs"

[dev-dependencies]
tokio = { workspace = true, features = ["test-util"] }
"""
NEEDED = ["bytes", "clap", "futures", "http", "http-body-util", "jiff", "kube", "serde_json", "tempfile", "tower",
          "trueup-checks", "trueup-core", "trueup-fleet", "trueup-operate", "trueup-sim", "zeroize"]
# How long a unit test run may take.
TESTS_SECONDS = 600


def run(command, cwd, target, seconds=None):
    """Runs a command in the copy; returns its exit code (None: the time was up) and output."""
    env = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "1"}
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


def copy_tree(work):
    tree = work / "tree"
    if tree.exists():
        shutil.rmtree(tree)
    ignored = shutil.ignore_patterns("target", ".git")
    shutil.copytree(ROOT, tree, ignore=ignored)
    package = tree / "crates" / "replay"
    package.mkdir()
    (package / "lib.rs").write_text("//! The example is all of this package.\n")
    (package / "Cargo.toml").write_text(PACKAGE + "".join(f"{name}.workspace = true\n" for name in NEEDED))
    return tree


def check():
    """Returns the mutations whose old text does not stand exactly once, with the reason."""
    wrong = []
    for name, file, old, *_ in MUTATIONS:
        path = ROOT / file
        found = path.read_text().count(old) if path.exists() else "no file, so 0"
        if found != 1:
            wrong.append(f"{name}: the text to change stands {found} times in {file}, not once:\n{old}")
    names = [mutation[0] for mutation in MUTATIONS]
    return wrong + [f"{name}: two mutations have this name" for name in {n for n in names if names.count(n) > 1}]


def mutate(tree, mutation):
    """Changes the file; returns what it held before."""
    name, file, old, new, *lost = mutation
    path = tree / file
    before = path.read_text()
    text = before.replace(old, new)
    if lost:
        size = re.search(r"SINGLE_GATES: \[Gate; (\d+)\]", text)
        text = text.replace(size.group(0), f"SINGLE_GATES: [Gate; {int(size.group(1)) - lost[0]}]")
    path.write_text(text)
    return before


def caught_by_histories(tree, target, seconds):
    """Returns the violation and how many histories it took; nothing when none noticed in time."""
    code, said = run(["cargo", "build", "--workspace", "--example", "replay"], tree, target)
    if code != 0:
        sys.exit(f"the mutated tree does not build:\n{said[-4000:]}")
    play = [str(target / "debug" / "examples" / "replay"), "--first", "--threads", "1", "--seconds", str(seconds)]
    code, said = run(play, tree, target)
    found = re.search(r"--seed (\d+) --trace   (.*)", said)
    if code != 0 and not found and "too rare" not in said:
        sys.exit(f"the histories of the mutated tree cannot be played:\n{said[-4000:]}")
    played = re.search(r"^(\d+) histories in", said, re.M)
    return {"violation": found.group(2) if found else "", "histories": int(played.group(1)) if played else 0}


def caught_by_tests(tree, target, file):
    """Returns the unit tests of the changed crate that fail."""
    package = "trueup-" + file.split("/")[1]
    command = ["cargo", "test", "--workspace", "--lib", "--no-fail-fast", "--exclude", "trueup"]
    others = {"trueup-core", "trueup-operate", "trueup-fleet"} - {package}
    for other in others | {"trueup-cel", "trueup-checks", "trueup-net", "trueup-sim", "trueup-replay"}:
        command += ["--exclude", other]
    code, said = run(command, tree, target, TESTS_SECONDS)
    failed = re.findall(r"^test (\S+) \.\.\. FAILED$", said, re.M)
    if code != 0 and not failed:
        sys.exit(f"the tests of the mutated tree do not build:\n{said[-4000:]}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true", help="verify that every text to change stands exactly once")
    parser.add_argument("--seconds", type=int, default=60, help="how long histories are played for one mutation")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target" / "mutations")
    parser.add_argument("--target", type=pathlib.Path, help="the target folder, by default in the work folder")
    args = parser.parse_args()
    if args.check:
        wrong = check()
        sys.exit("\n".join(wrong) if wrong else 0)
    if args.list:
        print("\n".join(mutation[0] for mutation in MUTATIONS))
        return
    unknown = set(args.only) - {mutation[0] for mutation in MUTATIONS}
    if unknown:
        sys.exit(f"there is no mutation {sorted(unknown)}; --list names them")
    args.work.mkdir(parents=True, exist_ok=True)
    kept = args.work / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    target = (args.target or args.work / "target").resolve()
    wanted = [one for one in MUTATIONS if one[0] in args.only or not args.only and one[0] not in results]
    tree = copy_tree(args.work)
    for mutation in sorted(wanted, key=lambda one: one[1]):
        name, file = mutation[:2]
        before = mutate(tree, mutation)
        found = caught_by_histories(tree, target, args.seconds)
        found["tests"] = [] if found["violation"] else caught_by_tests(tree, target, file)
        (tree / file).write_text(before)
        results[name] = found
        kept.write_text(json.dumps(results, indent=2))
        print(f"{name}: {found}", file=sys.stderr, flush=True)
    show(results)


def show(results):
    print("| mutation | caught by | histories played |\n| --- | --- | ---: |")
    survived = []
    for name, *_ in MUTATIONS:
        if name not in results:
            continue
        found = results[name]
        named = ", ".join(f"test `{test.split('::')[-1]}`" for test in found["tests"][:2])
        violation = found["violation"].split(": Report {")[0].split("; run trueup")[0].replace("|", "/")
        print(f"| {name} | {violation or named or 'nothing'} | {found['histories']} |")
        if not found["violation"] and not named:
            survived.append(name)
    if survived:
        sys.exit(f"nothing noticed: {', '.join(survived)}")


if __name__ == "__main__":
    main()
