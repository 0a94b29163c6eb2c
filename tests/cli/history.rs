//! `trueup history` as a shell sees it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use jiff::Timestamp;
use tempfile::TempDir;
use trueup_core::engine::journal::{
    Answer, ApprovalWay, ApprovedCluster, Found, Holder, Journal, Record, StateFolder, VerifiedState,
};
use trueup_core::engine::{ObjectRef, Verb};
use trueup_core::world::ClusterIdentity;

const PLAN_A: &str = "sha256:1a2b3c4d000000000000000000000000000000000000000000000000000000aa";
const PLAN_B: &str = "sha256:1a9f0000000000000000000000000000000000000000000000000000000000bb";

#[test]
fn an_empty_history_is_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let expected = "\
no plan was applied from this machine yet
----- stderr
----- exit 0
";
    assert_eq!(history(&dir, &[]), expected);
    assert_eq!(history(&dir, &["verify"]), expected);
    assert_eq!(history(&dir, &["export"]), "----- stderr\n----- exit 0\n");
    assert!(!state_path(&dir).exists(), "looking makes nothing");
}

#[test]
fn the_list_is_newest_first() {
    let dir = with_two_plans();
    insta::assert_snapshot!(history(&dir, &[]), @r##"
1a9f0000  2026-11-16 10:01:40 UTC  anna on laptop  guest-a  1 open, 1 unchanged  not finished
1a2b3c4d  2026-11-16 10:00:00 UTC  anna on laptop  guest-a  1 gone, 1 skipped
----- stderr
open requests cannot be resolved: no kubeconfig found (looked at $TMP/.kube/config); name one with --kubeconfig FILE or KUBECONFIG
1a9f0000/a1 is open: result unknown, cluster guest-a cannot be reached
----- exit 0
"##);
}

#[test]
fn show_lists_the_result_of_every_action() {
    let dir = with_two_plans();
    insta::assert_snapshot!(history(&dir, &["show", "1a2b"]), @r##"
plan sha256:1a2b3c4d000000000000000000000000000000000000000000000000000000aa
approved 2026-11-16 10:00:00 UTC by anna on laptop (typed), for guest-a
finished 2026-11-16 10:00:05 UTC

a1  delete  guest-a  Secret openshift-config/old-client  gone; backup 00ff00ff00ff00ff00ff00ff00ff00ff.age
a2  delete  guest-a  Secret openshift-config/in-use  skipped: it is referred to again
----- stderr
----- exit 0
"##);
    insta::assert_snapshot!(history(&dir, &["show", "sha256:1a9f/a1"]), @r##"
plan sha256:1a9f0000000000000000000000000000000000000000000000000000000000bb
approved 2026-11-16 10:01:40 UTC by anna on laptop (expected), for guest-a
not finished

a1  delete  guest-a  Secret openshift-config/old-\u{1b}[2J  open: result unknown, cluster guest-a cannot be reached
----- stderr
open requests cannot be resolved: no kubeconfig found (looked at $TMP/.kube/config); name one with --kubeconfig FILE or KUBECONFIG
----- exit 0
"##);
}

#[test]
fn an_unknown_entry_is_an_error_with_advice() {
    let dir = with_two_plans();
    let cases = [("two begin so", "1a"), ("none does", "ffff"), ("no such action", "1a2b/a9"), ("nothing", "")];
    let said: String = cases.map(|(case, entry)| format!("{case}:\n{}", history(&dir, &["show", entry]))).concat();
    insta::assert_snapshot!(said, @r##"
two begin so:
----- stderr
trueup: history: 2 plans have an id that begins with 1a; name one of: 1a2b3c4d000000000000000000000000000000000000000000000000000000aa, 1a9f0000000000000000000000000000000000000000000000000000000000bb
----- exit 1
none does:
----- stderr
trueup: history: no applied plan has an id that begins with ffff; list entries with trueup history
----- exit 1
no such action:
----- stderr
trueup: history: the plan has no action a9; list its actions with trueup history show 1a2b3c4d
----- exit 1
nothing:
----- stderr
trueup: history: the entry names no plan; list entries with trueup history
----- exit 1
"##);
}

#[test]
fn verify_is_exit_0_for_an_intact_journal_and_3_for_any_other() {
    let dir = with_two_plans();
    let path = state_path(&dir).join("journal");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[700] ^= 1;
    let cases = [("whole", whole.clone()), ("a flipped byte", flipped), ("cut", whole[..whole.len() - 3].to_vec())];
    let said: String = cases
        .map(|(case, bytes)| {
            fs::write(&path, bytes).unwrap();
            format!("{case}:\n{}", history(&dir, &["verify"]))
        })
        .concat();
    insta::with_settings!({ filters => [("sha256:[0-9a-f]{64}", "$$HASH")] }, {
        insta::assert_snapshot!(said, @r##"
whole:
the journal is intact: 11 records of 2 plans, last hash $HASH
----- stderr
----- exit 0
a flipped byte:
the journal is damaged at byte 520, after 2 whole records: the bytes are not the ones that were written; keep the file, it is evidence, and move it away: a new one begins with the next apply
----- stderr
----- exit 3
cut:
the last 194 bytes of the journal, from byte 2975, are an incomplete record: an append is running or was interrupted; the next apply truncates it
----- stderr
----- exit 3
"##);
    });
}

#[test]
fn verify_finds_a_cut_at_a_record_boundary_by_the_published_hash() {
    let dir = with_two_plans();
    let config = dir.path().join(".config/trueup/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let published = dir.path().join("hashes");
    fs::write(&config, format!("[journal]\npublish = {{ file = {:?} }}\n", published.display().to_string())).unwrap();
    let intact = history(&dir, &["verify"]);
    assert!(intact.contains("nothing is published for this machine in $TMP/hashes") && intact.ends_with("exit 3\n"));
    let last = |said: &str| said.split("last hash ").nth(1).unwrap()[..71].to_owned();
    let hash = last(&intact);
    // What a run publishes: time, machine and user, hash.
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "this-machine" } else { host.trim() };
    fs::write(&published, format!("2026-11-16T10:00:00Z {host}.unknown-user {hash}\n")).unwrap();
    let same = history(&dir, &["verify"]);
    assert!(same.contains("; $TMP/hashes has the same hash\n") && same.ends_with("exit 0\n"), "{same}");

    let path = state_path(&dir).join("journal");
    fs::remove_file(&path).unwrap();
    let folder = StateFolder::prepare(&state_path(&dir)).unwrap();
    let mut opened = Journal::open(&folder, &Holder { name: "a test".to_owned(), pid: 1 }).unwrap();
    opened.journal.append(&records()[..7]).unwrap();
    let kept = opened.journal.last_hash().unwrap();
    drop(opened);
    let expected = format!(
        "the journal was cut or replaced: it has last hash {kept}, and $TMP/hashes has {hash}; restore the journal, or \
         find out who changed it\n----- stderr\n----- exit 3\n"
    );
    assert_eq!(history(&dir, &["verify"]), expected);
    fs::remove_file(&path).unwrap();
    assert!(history(&dir, &["verify"]).contains("it has no record, and"), "an emptied journal");
    fs::remove_file(&published).unwrap();
    fs::create_dir(&published).unwrap();
    let unreadable = history(&dir, &["verify"]);
    assert!(unreadable.contains("cannot be read") && unreadable.ends_with("exit 3\n"), "{unreadable}");
}

#[test]
fn verify_compares_with_a_hash_that_syslog_has() {
    let dir = with_two_plans();
    let config = dir.path().join(".config/trueup/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "[journal]\npublish = { syslog = \"/dev/log\" }\n").unwrap();
    let intact = history(&dir, &["verify"]);
    assert!(intact.contains("syslog (/dev/log) is written and never read") && intact.ends_with("exit 0\n"), "{intact}");
    let hash = intact.split("last hash ").nth(1).unwrap()[..71].to_owned();
    let same = history(&dir, &["verify", "--published", &hash]);
    assert!(same.contains("--published has the same hash") && same.ends_with("exit 0\n"), "{same}");
    let other = history(&dir, &["verify", "--published", &hash.replace(['0', '1'], "2")]);
    assert!(other.contains("the journal was cut or replaced") && other.ends_with("exit 3\n"), "{other}");
}

#[test]
fn a_damaged_journal_is_not_shown_as_intact() {
    let dir = with_two_plans();
    let path = state_path(&dir).join("journal");
    let mut bytes = fs::read(&path).unwrap();
    bytes[700] ^= 1;
    fs::write(&path, bytes).unwrap();
    for args in [&[][..], &["show", "1a2b"], &["export"]] {
        let said = history(&dir, args);
        assert!(said.starts_with("----- stderr\ntrueup: history: the journal is damaged at byte "), "{args:?}: {said}");
        assert!(said.ends_with("----- exit 1\n"), "{args:?}: {said}");
    }
}

#[test]
fn a_torn_tail_is_reported_with_the_list() {
    let dir = with_two_plans();
    let path = state_path(&dir).join("journal");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    let said = history(&dir, &[]);
    assert!(said.contains("are an incomplete record") && said.ends_with("----- exit 0\n"), "{said}");
}

#[test]
fn an_export_is_json_lines_without_backup_names() {
    let dir = with_two_plans();
    let said = history(&dir, &["export"]);
    let (lines, _) = said.split_once("----- stderr").unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), records().len());
    assert_eq!(lines[1]["record"]["backup"]["file"], "redacted");
    assert!(!said.contains("00ff00ff"), "{said}");
    assert!(!said.contains('\u{1b}'), "what steers a terminal is escaped: {said}");
    let numbers: Vec<u64> = lines.iter().map(|line| line["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_folder_readable_by_others_is_exit_1_with_the_remedy() {
    let dir = with_two_plans();
    fs::set_permissions(state_path(&dir), fs::Permissions::from_mode(0o755)).unwrap();
    insta::assert_snapshot!(history(&dir, &[]), @r##"
----- stderr
trueup: history: state folder $TMP/.local/state/trueup has mode 755, expected 700; run chmod 700 $TMP/.local/state/trueup
----- exit 1
"##);
    assert_eq!(history(&dir, &[]), history(&dir, &["verify"]), "verify gives no all-clear either");
}

#[test]
fn history_reports_a_missing_home() {
    let output = Command::new(env!("CARGO_BIN_EXE_trueup")).env_clear().arg("history").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "trueup: history: neither XDG_STATE_HOME nor HOME is set; set HOME\n");
}

/// Runs the command with a home in the folder; `$TMP` stands for the folder.
fn history(dir: &TempDir, args: &[&str]) -> String {
    let tmp = dir.path().to_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    let output = command.env_clear().env("HOME", tmp).args(["history", "--utc"]).args(args).output().unwrap();
    let clean = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(tmp, "$TMP");
    let (stdout, stderr) = (clean(&output.stdout), clean(&output.stderr));
    format!("{stdout}----- stderr\n{stderr}----- exit {}\n", output.status.code().unwrap())
}

fn state_path(dir: &TempDir) -> PathBuf {
    dir.path().join(".local/state/trueup")
}

fn with_two_plans() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let folder = StateFolder::prepare(&state_path(&dir)).unwrap();
    let mut opened = Journal::open(&folder, &Holder { name: "a test".to_owned(), pid: 1 }).unwrap();
    opened.journal.append(&records()).unwrap();
    dir
}

/// One plan that came to its end, and one that was cut short.
fn records() -> Vec<Record> {
    let backup = |action: &str| Record::Backup {
        plan: PLAN_A.to_owned(),
        action: action.to_owned(),
        file: "00ff00ff00ff00ff00ff00ff00ff00ff.age".to_owned(),
        digest: "sha256:00ff00ff".to_owned(),
    };
    let verified = |action: &str, state, why: &str| Record::Verified {
        plan: PLAN_A.to_owned(),
        action: action.to_owned(),
        state,
        why: why.to_owned(),
        version: None,
        at: at(4),
    };
    let answered = |plan: &str, what| Record::Outcome {
        plan: plan.to_owned(),
        action: "a1".to_owned(),
        attempt: 1,
        http: Some(200),
        what,
        at: at(3),
    };
    vec![
        approved(PLAN_A, ApprovalWay::Typed, 0),
        backup("a1"),
        intent(PLAN_A, "a1", "old-client"),
        answered(PLAN_A, Answer::Done),
        verified("a1", VerifiedState::Gone, ""),
        Record::Skipped {
            plan: PLAN_A.to_owned(),
            action: "a2".to_owned(),
            cluster: "guest-a".to_owned(),
            target: target("in-use"),
            verb: Verb::Delete,
            why: "it is referred to again".to_owned(),
            at: at(4),
        },
        Record::Finished {
            plan: PLAN_A.to_owned(),
            at: at(5),
            counts: [("gone".to_owned(), 1), ("skipped".to_owned(), 1)].into(),
        },
        approved(PLAN_B, ApprovalWay::Expected, 100),
        intent(PLAN_B, "a1", "old-\u{1b}[2J"),
        intent(PLAN_B, "a2", "other"),
        Record::Resolved { plan: PLAN_B.to_owned(), action: "a2".to_owned(), found: Found::Unchanged, at: at(200) },
    ]
}

fn at(second: i64) -> Timestamp {
    "2026-11-16T10:00:00Z".parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(second)
}

fn approved(plan: &str, how: ApprovalWay, second: i64) -> Record {
    let identity = ClusterIdentity {
        kube_system_uid: "ks-1".to_owned(),
        ca_sha256: "ca-1".to_owned(),
        ..ClusterIdentity::default()
    };
    Record::PlanApproved {
        plan: plan.to_owned(),
        who: "anna".to_owned(),
        host: "laptop".to_owned(),
        how,
        at: at(second),
        clusters: vec![ApprovedCluster::new("guest-a", identity)],
        undoes: None,
    }
}

fn intent(plan: &str, action: &str, name: &str) -> Record {
    Record::Intent {
        plan: plan.to_owned(),
        action: action.to_owned(),
        attempt: 1,
        cluster: "guest-a".to_owned(),
        target: target(name),
        uid: Some("u-1".to_owned()),
        resource_version: Some("812".to_owned()),
        verb: Verb::Delete,
        labels: None,
        annotations: None,
        fields: None,
        keys: Vec::new(),
        deadline: at(60),
        at: at(2),
    }
}

fn target(name: &str) -> ObjectRef {
    ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: Some("openshift-config".to_owned()),
        name: name.to_owned(),
        uid: Some("u-1".to_owned()),
        cloud: None,
    }
}
