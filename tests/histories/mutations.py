#!/usr/bin/env python3
"""Switches one safeguard off after another and reports which history notices, and after how many.

The tree is copied once, every mutation is written into the copy behind a switch (`MUTANT(name)` becomes a function that compares
the name with the environment variable TRUEUP_MUTANT), and the copy is built once. Then, for each mutation: histories until
the first violation or the time limit, and for what no history notices, the unit tests of the crates with mutations. Without a
mutant the copy has to pass: that is played first. Prints a table; exit code 1 when a mutation survives.

    tests/histories/mutations.py [--only NAME ...] [--list] [--check] [--seconds 20] [--work FOLDER] [--target FOLDER]

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
    """Switches off a gate of the list of those that look at one action."""
    off = f"|candidate, around| if MUTANT(gate: {name}) {{ None }} else {{ {function}(candidate, around) }},"
    return (GATE + "mod.rs", f"    {function},\n", f"    {off}\n")


# file, old text, new text. A new text names the mutations it holds.
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
    gate("managed elsewhere", "managed_elsewhere::managed_elsewhere"),
    gate("access", "access::access"),
    gate("policy", "policy::deny"),
    (GATE + "mod.rs", "    policy::cap(candidates, around, &mut gated);\n",
     "    if !MUTANT(gate: policy cap) { policy::cap(candidates, around, &mut gated); }\n"),
    (GATE + "mod.rs", "        BrakeMode::On => brake::brake(candidates, around, &mut gated),\n",
     "        BrakeMode::On if MUTANT(gate: brake) => {}\n"
     "        BrakeMode::On => brake::brake(candidates, around, &mut gated),\n"),
    (GATE + "mod.rs", "    dependency::dependency(candidates, &mut gated);\n",
     "    if !MUTANT(gate: dependency) { dependency::dependency(candidates, &mut gated); }\n"),
    (GATE + "mod.rs", "policy::raise(own, candidate, around)",
     "if MUTANT(gate: policy tier) { own } else { policy::raise(own, candidate, around) }"),
    (GATE + "evidence.rs", "    if wanted > 0 {\n", "    if wanted > 0 || MUTANT(gate: empty set) {\n"),
    (ADMISSION, "plan.actions[*place].selected && plan.actions[*place].blocked_by.is_empty()",
     "plan.actions[*place].selected\n"
     "        && (MUTANT(admission: blocked actions) || plan.actions[*place].blocked_by.is_empty())"),
    (ADMISSION, "        match recheck(&plan, action, current) {\n",
     "        let judged = match MUTANT(admission: actions are judged again) {\n"
     "            true => RecheckResult::Same,\n            false => recheck(&plan, action, current),\n        };\n"
     "        match judged {\n"),
    (ADMISSION, "    if now >= plan.expires_at {\n", "    if now >= plan.expires_at && !MUTANT(admission: expiry) {\n"),
    (ADMISSION, "    if plan.created_at > now {\n",
     "    if plan.created_at > now && !MUTANT(admission: a plan from the future) {\n"),
    (ADMISSION, "    if valid_for > most {\n",
     "    if valid_for > most && !MUTANT(admission: a plan that is valid too long) {\n"),
    (ADMISSION, "        (Provenance::Foreign, ForeignPlan::Refuse) => Err(Refusal::Foreign),",
     "        (Provenance::Foreign, ForeignPlan::Refuse) if MUTANT(admission: foreign plans) => Ok(()),\n"
     "        (Provenance::Foreign, ForeignPlan::Refuse) => Err(Refusal::Foreign),"),
    (ADMISSION, "    pull_brake(&plan, current, sent_earlier, &mut admitted);\n",
     "    if !MUTANT(admission: brake at apply) { pull_brake(&plan, current, sent_earlier, &mut admitted); }\n"),
    (ADMISSION, "    refuse_dependents(&plan, &mut admitted);\n",
     "    if !MUTANT(admission: dependents of refused actions) { refuse_dependents(&plan, &mut admitted); }\n"),
    (MARK, "            Some(Err(_)) | None => Provenance::Foreign,\n",
     "            Some(Err(_)) if MUTANT(mark: any mark is valid) => Provenance::Here,\n"
     "            None if MUTANT(mark: a missing mark is valid) => Provenance::Here,\n"
     "            Some(Err(_)) | None => Provenance::Foreign,\n"),
    (APPROVE, "        Provenance::Foreign => Tier::T4,\n",
     "        Provenance::Foreign if MUTANT(approve: a foreign plan is T4) => action.tier,\n"
     "        Provenance::Foreign => Tier::T4,\n"),
    (APPROVE, "    let whole = highest.tier >= Tier::T3;\n",
     "    let whole = highest.tier >= Tier::T3 && !MUTANT(approve: the whole id from T3 on);\n"),
    (APPROVE, "    if now >= plan.expires_at {\n", "    if now >= plan.expires_at && !MUTANT(approve: expiry) {\n"),
    (RECHECK, "    if action.is_delete()\n        && let",
     "    if !MUTANT(recheck: verdict of a delete)\n        && action.is_delete()\n        && let"),
    (RECHECK, "    if !now.blocked_by.is_empty() {\n",
     "    if !now.blocked_by.is_empty() && !MUTANT(recheck: gates that are shut now) {\n"),
    (RECHECK, "    if now.tier > action.tier {\n", "    if now.tier > action.tier && !MUTANT(recheck: a higher tier) {\n"),
    (RECHECK, "    if now.target != action.target {\n",
     "    if now.target != action.target && !(MUTANT(recheck: target) && now.target.name == action.target.name) {\n"),
    (RECHECK, "    if now.preconditions.source != action.preconditions.source {\n",
     "    if now.preconditions.source != action.preconditions.source && !MUTANT(recheck: source of a copy) {\n"),
    (RECHECK, "    if !is_of_tags && now.preconditions != action.preconditions {\n",
     "    if !is_of_tags && now.preconditions != action.preconditions && !MUTANT(recheck: preconditions) {\n"),
    (RECHECK, "    if now.change.without_memory_lists() != action.change.without_memory_lists() {\n",
     "    let is_changed = now.change.without_memory_lists() != action.change.without_memory_lists();\n"
     "    if is_changed && !(MUTANT(recheck: change) && now.verb() == action.verb()) {\n"),
    (RECHECK, "    if !rests_on_all(action, now, current.names) {\n",
     "    if !rests_on_all(action, now, current.names) && !MUTANT(recheck: what it rests on) {\n"),
    (RECHECK, "    match undo_difference(action, derived) {\n",
     "    match undo_difference(action, derived).filter(|_| !MUTANT(recheck: an undo that is not derived)) {\n"),
    (RECHECK, "    if !derived.blocked_by.is_empty() {\n",
     "    if !derived.blocked_by.is_empty() && !MUTANT(recheck: gates of an undo) {\n"),
    (FRESH, "        match now.late_list(action) {\n",
     "        match now.late_list(action).filter(|_| !MUTANT(recheck: lists that are late)) {\n"),
    (FRESH, "input.observed.iter_mut().filter(|observed| late.contains(observed.id)) {\n",
     "input.observed.iter_mut().filter(|observed| late.contains(observed.id) && !MUTANT(recheck: a late list is unknown)) {\n"),
    (FRESH, "rests_on.extend(draft.rests_on.iter().cloned());",
     "let kept = if MUTANT(recheck: lists what actions rest on) { 1 } else { usize::MAX };\n"
     "                rests_on.extend(draft.rests_on.iter().take(kept).cloned());"),
    (FRESH, "            // What is sent now changes the lists.\n            self.recent = None;\n",
     "            if !MUTANT(recheck: lists of a scan are used once) { self.recent = None; }\n"),
    (FRESH, "if at.elapsed() <= LISTS_AGE_MAX => listed,",
     "if at.elapsed() <= LISTS_AGE_MAX || MUTANT(recheck: lists of a scan become old) => listed,"),
    (FRESH, "            found.access = access;\n",
     "            if !MUTANT(recheck: the permissions of now) { found.access = access; }\n"),
    (PLAN, "        (false, true) => ReadOnly::ByConfig,\n",
     "        (false, true) if MUTANT(operate: read-only of the configuration) => ReadOnly::Off,\n"
     "        (false, true) => ReadOnly::ByConfig,\n"),
    (PLAN, "        policy: session.settings.policy.clone(),\n",
     "        policy: match MUTANT(operate: policy of the configuration) {\n            true => Vec::new(),\n"
     "            false => session.settings.policy.clone(),\n        },\n"),
    (PLAN, "        freeze: safety.freeze.clone(),\n",
     "        freeze: if MUTANT(operate: freeze of the configuration) { Vec::new() } else { safety.freeze.clone() },\n"),
    (ADMIT, "Rechecker::new(world, names, plan).settling(settled);",
     "Rechecker::new(world, names, plan).settling(match MUTANT(operate: a foreign plan has to settle) {\n"
     "        true => settled.min(Duration::ZERO),\n        false => settled,\n    });"),
    (ADMIT, ".filter(|entry| entry.plan == plan)",
     ".filter(|entry| entry.plan == plan || MUTANT(operate: an earlier run of the same plan))"),
    (WRITE, "        let Some(why) = self.conflict(reading) else {",
     "        let Some(why) = self.conflict(reading).filter(|_| !MUTANT(read before a send)) else {"),
    (SEND, '{ "uid": uid, "resourceVersion": resource_version },\n',
     '{\n                        "uid": (!MUTANT(uid precondition) && !MUTANT(both preconditions)).then_some(uid),\n'
     '                        "resourceVersion": (!MUTANT(resourceVersion precondition)'
     ' && !MUTANT(both preconditions)).then_some(resource_version),\n                    },\n'),
    (CONTENT, "                resource_version: bound.map(|(_, version)| version),\n",
     "                resource_version: bound.map(|(_, version)| version).filter(|_| !MUTANT(version of a change)),\n"),
    (SOURCE, "    if seen.resource_version != bound.resource_version {\n",
     "    if seen.resource_version != bound.resource_version && !MUTANT(version of a source) {\n"),
    (SOURCE, "    if seen.uid != bound.uid {\n", "    if seen.uid != bound.uid && !MUTANT(uid of a source) {\n"),
    (SOURCE, "    let empty = |key: &&String| content.get(key).is_none_or(|bytes| bytes.is_empty());\n",
     "    let empty = |key: &&String| !MUTANT(a source without the key)\n"
     "        && content.get(key).is_none_or(|bytes| bytes.is_empty());\n"),
    (WAVE, "(self.ports.clusters, clock, one.action).await.err();\n",
     "(self.ports.clusters, clock, one.action).await.err()"
     ".filter(|_| !MUTANT(the source before another attempt));\n"),
    (WRITE, "        if self.is_fulfilled(kind, reading) {\n",
     "        if self.is_fulfilled(kind, reading) && !MUTANT(compare before write) {\n"),
    (WRITE, "            Self::Change { patch, .. } => !patch.data.is_empty() || !patch.fields.is_empty(),\n",
     "            Self::Change { .. } if MUTANT(backup of what is overwritten) => false,\n"
     "            Self::Change { patch, .. } => !patch.data.is_empty() || !patch.fields.is_empty(),\n"),
    (ENGINE + "undo/inverse.rs", "        Some(version) if version == resource_version => Ok(()),\n",
     "        Some(_) if MUTANT(a change after apply, before an undo) => Ok(()),\n"
     "        Some(version) if version == resource_version => Ok(()),\n"),
    (JOURNAL, "self.disk.append(&bytes).and_then(|()| self.disk.sync())",
     "self.disk.append(&bytes).and_then(|()| if MUTANT(fsync) { Ok(()) } else { self.disk.sync() })"),
    (JOURNAL, "            self.health = Health::Failed;\n",
     "            if !MUTANT(a failed journal stays failed) { self.health = Health::Failed; }\n"),
    (WAVE, "                Some(refused) => self.end(action, ActionResult::refused(refused)),\n",
     "                Some(_) if MUTANT(judge again) => same.push(*action),\n"
     "                Some(refused) => self.end(action, ActionResult::refused(refused)),\n"),
    (RUN, "            self.scan_references(&deleted, Duration::ZERO).await?;\n",
     "            if !MUTANT(reference scan after a wave) { self.scan_references(&deleted, Duration::ZERO).await?; }\n"),
    (RUN, "        let references = self.scan_references(&deleted, HELD_PATIENCE).await?;\n",
     "        if MUTANT(reference scan at the end) { return Ok(()); }\n"
     "        let references = self.scan_references(&deleted, HELD_PATIENCE).await?;\n"),
    (RUN, "            self.check_gates(cluster).await?;\n            let came",
     "            match MUTANT(identity before a wave) {\n                true => self.check_switches()?,\n"
     "                false => self.check_gates(cluster).await?,\n            }\n            let came"),
    (RUN, "            came.and(confirmed)?;\n",
     "            came.and(if MUTANT(identity after a wave) { Ok(()) } else { confirmed })?;\n"),
    (SCAN, "        let came = match self.check_gates(&action.cluster).await {\n",
     "        let gates = match MUTANT(identity before a restore) {\n            true => self.check_switches(),\n"
     "            false => self.check_gates(&action.cluster).await,\n        };\n        let came = match gates {\n"),
    (WAVE, "                if let Err(halt) = self.check_switches() {\n",
     "                let switches = if MUTANT(switches between groups) { Ok(()) } else { self.check_switches() };\n"
     "                if let Err(halt) = switches {\n"),
    (RUN, "        if let Some(blocked) = self.ports.switches.shut(now) {\n",
     "        if let Some(blocked) = self.ports.switches.shut(now).filter(|_| !MUTANT(all switches)) {\n"),
    (RUN, "        if self.ports.stop.load(Ordering::SeqCst) {\n            return Err(Halt::Stopped);\n        }\n        let now",
     "        if self.ports.stop.load(Ordering::SeqCst) && !MUTANT(stop) {\n            return Err(Halt::Stopped);\n"
     "        }\n        let now"),
    (RUN, "        if now >= until {\n", "        if now >= until && !MUTANT(expiry in mid-run) {\n"),
    (WAVE, "            records.push(one.intent(&plan, at));\n",
     "            if !MUTANT(intent before send) { records.push(one.intent(&plan, at)); }\n"),
    (WAVE, "                records.push(Record::Backup { plan: plan.clone(), action, file, digest });\n",
     "                if !MUTANT(backup before intent) {\n"
     "                    records.push(Record::Backup { plan: plan.clone(), action, file, digest });\n                }\n"),
    (WAVE, '                let sealed = sealed.map_err(|why| ActionResult::gated(format!("backup: {why}")))?;\n'
     "                self.backups.insert(action.id.clone(), sealed);\n",
     "                let sealed = match sealed {\n                    Ok(sealed) => Some(sealed),\n"
     "                    Err(_) if MUTANT(a backup that failed) => None,\n"
     '                    Err(why) => return Err(ActionResult::gated(format!("backup: {why}"))),\n                };\n'
     "                self.backups.extend(sealed.map(|sealed| (action.id.clone(), sealed)));\n"),
    # To read only before another attempt is as good: what is removed here is to ask at all.
    (VERDICT, "        Answer::Ambiguous => None,\n",
     "        Answer::Ambiguous if MUTANT(an unclear answer counts as failed) => {\n"
     '            return Next::End(ActionResult::failed("no answer"));\n        }\n'
     "        Answer::Ambiguous if MUTANT(an unclear answer counts as done) => {\n"
     "            return Next::End(ActionResult::Done(VerifiedState::Gone));\n        }\n"
     "        Answer::Ambiguous => None,\n"),
    (WAVE, "            match (doubted, one.write.conflict(&reading), source) {\n",
     "            let reads = !MUTANT(read before another attempt);\n"
     "            match (doubted.filter(|_| reads), one.write.conflict(&reading).filter(|_| reads), source) {\n"),
    (READY, "        if self.is_in_doubt() {\n            ActionResult::Unknown",
     "        if self.is_in_doubt() && !MUTANT(doubt is not failure) {\n            ActionResult::Unknown"),
    # The read when the wave was prepared is as old as the requests before; only the one right before counts.
    (ACCOUNT, "        if cloud_version(&resource.tags) != bound {\n",
     "        let is_unread = MUTANT(tags right before a cloud's delete) && !matches!(write, Write::Change { .. });\n"
     "        if cloud_version(&resource.tags) != bound && !is_unread {\n"),
    (ACCOUNT, "            Some(409) => match self.read_cloud(cloud).await {\n",
     "            Some(409) if !MUTANT(another deleter was first) => match self.read_cloud(cloud).await {\n"),
    (ENGINE + "executor/recover.rs", "            let reading = port.read(&sent.target).await;\n",
     "            let reading = match MUTANT(recovery reads) {\n                true => super::ports::Reading::Absent,\n"
     "                false => port.read(&sent.target).await,\n            };\n"),
]

# A switch in a new text.
SWITCH = re.compile(r"MUTANT\(([^)]+)\)")
# What a switch calls, in the copy of `core`.
FUNCTION = """
/// Whether a mutation is switched on.
pub fn mutant(name: &str) -> bool {
    static ACTIVE: std::sync::LazyLock<String> =
        std::sync::LazyLock::new(|| std::env::var("TRUEUP_MUTANT").unwrap_or_default());
    *ACTIVE == name
}
"""


def names():
    """Every mutation with the file it is in."""
    found = {}
    for file, _, new in MUTATIONS:
        for name in SWITCH.findall(new):
            found.setdefault(name, file)
    return found


# The histories without the console and the commands, which they do not use.
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
# The crates whose unit tests are asked.
TESTED = ["core", "fleet", "operate"]
# How long a unit test run may take.
TESTS_SECONDS = 600


def run(command, cwd, env, seconds=None):
    """Runs a command in the copy; returns its exit code (None: the time was up) and output."""
    try:
        done = subprocess.run(command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


def check():
    """Returns the mutations whose old text does not stand exactly once, with the reason."""
    wrong = []
    for file, old, new in MUTATIONS:
        path = ROOT / file
        found = path.read_text().count(old) if path.exists() else "no file, so 0"
        name = ", ".join(SWITCH.findall(new)) or "a mutation without a name"
        if found != 1 or not SWITCH.search(new):
            wrong.append(f"{name}: the text to change stands {found} times in {file}, not once:\n{old}")
    return wrong


def copy_tree(work):
    """Copies the tree, writes every mutation into the copy behind its switch, and adds the package of the histories."""
    tree = work / "tree"
    if tree.exists():
        shutil.rmtree(tree)
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("target", ".git"))
    for file, old, new in MUTATIONS:
        path = tree / file
        function = "crate::mutant" if file.startswith("crates/core/") else "trueup_core::mutant"
        path.write_text(path.read_text().replace(old, SWITCH.sub(lambda found: f'{function}("{found[1]}")', new)))
    library = tree / "crates/core/src/lib.rs"
    library.write_text(library.read_text() + FUNCTION)
    package = tree / "crates" / "replay"
    package.mkdir()
    (package / "lib.rs").write_text("//! The example is all of this package.\n")
    (package / "Cargo.toml").write_text(PACKAGE + "".join(f"{name}.workspace = true\n" for name in NEEDED))
    return tree


class Copy:
    """The mutated copy, built once."""

    def __init__(self, work, target):
        self.tree = copy_tree(work)
        self.env = {"CARGO_TARGET_DIR": str(target), "CARGO_PROFILE_RELEASE_LTO": "off", "TOKIO_WORKER_THREADS": "1"}
        code, said = run(["cargo", "build", "--release", "--workspace", "--example", "replay"], self.tree, self.env)
        if code != 0:
            sys.exit(f"the mutated tree does not build:\n{said[-4000:]}")
        self.replay = str(target / "release" / "examples" / "replay")
        self.tests = {}

    def play(self, name, seconds):
        """Returns the violation and how many histories it took; nothing when none noticed in time."""
        play = [self.replay, "--first", "--threads", "1", "--seeds", str(10**9), "--seconds", str(seconds)]
        code, said = run(play, self.tree, {**self.env, "TRUEUP_MUTANT": name})
        found = re.search(r"--seed (\d+) --trace   (.*)", said)
        if code != 0 and not found and "too rare" not in said:
            sys.exit(f"{name}: the histories of the mutated tree cannot be played:\n{said[-4000:]}")
        played = re.search(r"^(\d+) histories in", said, re.M)
        return {"violation": found[2] if found else "", "histories": int(played[1]) if played else 0}

    def build_tests(self):
        """Builds the unit tests of the crates that have mutations; returns the program of each."""
        command = ["cargo", "test", "--workspace", "--lib", "--no-run", "--message-format", "json"]
        left_out = ["", "-cel", "-checks", "-net", "-sim", "-replay"]
        for crate in left_out:
            command += ["--exclude", "trueup" + crate]
        code, said = run(command, self.tree, self.env)
        if code != 0:
            sys.exit(f"the tests of the mutated tree do not build:\n{said[-4000:]}")
        built = (json.loads(line) for line in said.splitlines() if line.startswith("{"))
        programs = {one["target"]["name"]: one["executable"] for one in built if one.get("executable")}
        return {crate: programs[f"trueup_{crate}"] for crate in TESTED}

    def failing_tests(self, name, file):
        """Returns the unit tests that fail: of the changed crate, else of the others, which use it on simulated servers."""
        self.tests = self.tests or self.build_tests()
        changed = file.split("/")[1]
        env = {**self.env, "TRUEUP_MUTANT": name}
        for crate in sorted(TESTED, key=lambda crate: crate != changed):
            code, said = run([self.tests[crate]], self.tree / "crates" / crate, env, TESTS_SECONDS)
            failed = re.findall(r"^test (\S+) \.\.\. FAILED$", said, re.M)
            if code not in (0, None) and not failed:
                sys.exit(f"{name}: the tests of {crate} cannot be run:\n{said[-4000:]}")
            if failed:
                return failed
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true", help="verify that every text to change stands exactly once")
    parser.add_argument("--seconds", type=int, default=20, help="how long histories are played for one mutation")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target" / "mutations")
    parser.add_argument("--target", type=pathlib.Path, help="the target folder, by default in the work folder")
    args = parser.parse_args()
    if args.check:
        wrong = check()
        sys.exit("\n".join(wrong) if wrong else 0)
    if args.list:
        print("\n".join(names()))
        return
    unknown = set(args.only) - set(names())
    if unknown:
        sys.exit(f"there is no mutation {sorted(unknown)}; --list names them")
    args.work.mkdir(parents=True, exist_ok=True)
    kept = args.work / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    copy = Copy(args.work, (args.target or args.work / "target").resolve())
    unchanged = copy.play("", args.seconds)
    if unchanged["violation"]:
        sys.exit(f"without a mutation: {unchanged['violation']}")
    for name, file in names().items():
        if name not in (args.only or names()) or (not args.only and name in results):
            continue
        found = copy.play(name, args.seconds)
        found["tests"] = [] if found["violation"] else copy.failing_tests(name, file)
        results[name] = found
        kept.write_text(json.dumps(results, indent=2))
        print(f"{name}: {found}", file=sys.stderr, flush=True)
    show(results)


def show(results):
    print("| mutation | caught by | histories played |\n| --- | --- | ---: |")
    survived = []
    for name in names():
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
