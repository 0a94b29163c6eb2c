//! After the act, as a shell sees it: requests an earlier run left open, undo, tombstones, retention, and everything that
//! can be wrong with a plan or the state folder.

use std::os::unix::fs::PermissionsExt as _;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use trueup_core::engine::journal::{ApprovalWay, ApprovedCluster, Holder, Journal, Record, StateFolder, VerifiedState};
use trueup_core::engine::{ObjectRef, Plan, Verb as Does};
use trueup_core::world::ClusterIdentity;
use trueup_sim::{Fault, FaultAction, Matcher, Verb};

use super::apply::{ORPHAN, apply, deletes, is_there, planned, text, trueup};
use super::live::{Fleet, fleet, fleet_with_guest_at};

fn state(fleet: &Fleet) -> std::path::PathBuf {
    fleet.dir.path().join("state/trueup")
}

/// Runs a command on the fleet's clusters.
fn on_fleet(fleet: &Fleet, args: &[&str]) -> std::process::Output {
    trueup(fleet.dir.path(), &[args, &["--kubeconfig", "$TMP/kubeconfig"]].concat())
}

fn saved(fleet: &Fleet, name: &str) -> Plan {
    Plan::read(&std::fs::read_to_string(fleet.dir.path().join(name)).unwrap()).unwrap()
}

/// Deletes the orphan; answers with the plan that did.
fn deleted(fleet: &Fleet) -> Plan {
    let plan = planned(fleet);
    let applied = apply(fleet, &["--expect", &plan.id]);
    assert_eq!(applied.status.code(), Some(0), "{}", text(&applied));
    plan
}

/// Lets the management cluster name the orphan as a client's secret.
fn refer_to_the_orphan(fleet: &Fleet) {
    for (kind, key) in [("HostedCluster", "clusters/guest-a"), ("HostedControlPlane", "clusters-guest-a/guest-a")] {
        let edited = fleet.mgmt.edit("hypershift.openshift.io/v1beta1", kind, key, |object| {
            let client = &mut object["spec"]["configuration"]["authentication"]["oidcProviders"][0]["oidcClients"][0];
            client["clientSecret"]["name"] = json!("old-client");
        });
        edited.unwrap();
    }
}

fn short(plan: &Plan) -> String {
    plan.id[7..15].to_owned()
}

/// Starts an apply whose delete is never answered, and kills it.
async fn killed_in_the_middle(fleet: &Fleet) -> Plan {
    let plan = planned(fleet);
    fleet.guest.fault(Fault::once(Matcher::of("secrets").verb(Verb::Delete), FaultAction::Stall));
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("XDG_STATE_HOME", fleet.dir.path().join("state"))
        .args(["apply", "--expect", &plan.id, "--kubeconfig"])
        .args([fleet.dir.path().join("kubeconfig"), fleet.dir.path().join("plan.json")])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while deletes(fleet) == 0 {
        tokio::task::yield_now().await;
    }
    child.kill().await.unwrap();
    plan
}

#[tokio::test(flavor = "multi_thread")]
async fn history_resolves_open_intents_of_a_killed_run_by_reading() {
    let fleet = fleet().await;
    let plan = killed_in_the_middle(&fleet).await;
    let away = text(&trueup(fleet.dir.path(), &["history", "show", &short(&plan)]));
    assert!(away.contains("open: result unknown, cluster guest-a cannot be reached"), "{away}");
    let verified = text(&trueup(fleet.dir.path(), &["history", "verify"]));
    let listed = text(&on_fleet(&fleet, &["history"]));
    assert!(listed.contains("was found unchanged") && listed.contains("1 unchanged"), "{listed}");
    assert_eq!((deletes(&fleet), is_there(&fleet)), (1, true), "nothing was sent");
    let again = text(&trueup(fleet.dir.path(), &["history"]));
    assert!(again.contains("1 unchanged") && !again.contains("open"), "it is settled for good: {again}");
    assert_ne!(verified, text(&trueup(fleet.dir.path(), &["history", "verify"])), "a record was added");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_resolves_open_intents_first() {
    let fleet = fleet().await;
    let plan = killed_in_the_middle(&fleet).await;
    let undo = on_fleet(&fleet, &["undo", &short(&plan), "--out", "$TMP/undo.json"]);
    let said = text(&undo);
    assert_eq!((undo.status.code(), deletes(&fleet)), (Some(3), 1), "{said}");
    assert!(said.contains("was found unchanged") && said.contains("it was not deleted"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn intents_of_a_running_process_are_not_resolved() {
    let fleet = fleet().await;
    killed_in_the_middle(&fleet).await;
    let folder = StateFolder::prepare(&state(&fleet)).unwrap();
    let held = Journal::open(&folder, &Holder { name: "trueup apply by eve".to_owned(), pid: 7 }).unwrap();
    let said = text(&on_fleet(&fleet, &["history"]));
    assert!(said.contains("1 open") && said.contains("trueup apply by eve (pid 7) is writing"), "{said}");
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_to_a_deleted_object_is_found_by_the_next_plan_and_undone_in_one_step() {
    let fleet = fleet().await;
    let deleted = deleted(&fleet);
    refer_to_the_orphan(&fleet);
    let said = text(&on_fleet(&fleet, &["plan", "--settle", "0s", "--out", "$TMP/next.json"]));
    let next = saved(&fleet, "next.json");
    let finding = next.findings.iter().find(|finding| finding.subject.name == "old-client").unwrap();
    assert!(finding.codes.contains(&"deleted-by-trueup".to_owned()), "{said}");
    assert!(finding.summary.contains(&format!("plan {}/a1", short(&deleted))), "{}", finding.summary);
    let action = next.actions.iter().find(|action| action.verb() == Does::Create).unwrap();
    assert_eq!((u8::from(action.tier), &action.blocked_by), (1, &Vec::new()), "{said}");

    let args = ["apply", "$TMP/next.json", "--only", &action.id, "--expect", &next.id];
    let restored = on_fleet(&fleet, &args);
    assert_eq!((restored.status.code(), is_there(&fleet)), (Some(0), true), "{}", text(&restored));
    let after = text(&on_fleet(&fleet, &["plan", "--settle", "0s", "-o", "json"]));
    assert!(!after.contains("deleted-by-trueup"), "{after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_reports_that_trueup_deleted_the_missing_object() {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let fleet = fleet().await;
    let plan = deleted(&fleet);
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("XDG_STATE_HOME", fleet.dir.path().join("state"))
        .args(["plan", "--watch", "--settle", "0s", "--kubeconfig"])
        .arg(fleet.dir.path().join("kubeconfig"))
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = async || {
        let line = tokio::time::timeout(std::time::Duration::from_secs(30), lines.next_line()).await;
        line.expect("a line comes").unwrap().expect("the watch continues")
    };
    while !next().await.starts_with("2 clusters") {}
    refer_to_the_orphan(&fleet);
    let mut line = String::new();
    while !line.contains("Secret/openshift-config/old-client") {
        line = next().await;
    }
    let undo = format!("restore it with trueup undo {}/a1", short(&plan));
    assert!(line.contains("trueup deleted it at ") && line.contains(&undo), "{line}");
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_refuses_an_existing_name_before_the_prompt() {
    let fleet = fleet().await;
    let plan = deleted(&fleet);
    fleet
        .guest
        .seed(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "old-client", "namespace": "openshift-config"}}))
        .unwrap();
    let refused = on_fleet(&fleet, &["undo", &short(&plan), "--out", "$TMP/undo.json"]);
    let said = text(&refused);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("another object has the name Secret openshift-config/old-client now (uid "), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("trueup: ")).count(), 1, "{said}");
    assert!(!fleet.dir.path().join("undo.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_is_not_sent_over_unverified_tls() {
    // Leads here as well, but does not say so: by its name it could be anywhere.
    let fleet = fleet_with_guest_at("0.0.0.0").await;
    let allowed = "--allow-insecure-writes";
    on_fleet(&fleet, &["plan", "--settle", "1s", "--out", "$TMP/plan.json", allowed]);
    let plan = saved(&fleet, "plan.json");
    let applied = apply(&fleet, &["--expect", &plan.id, allowed]);
    assert_eq!(applied.status.code(), Some(0), "{}", text(&applied));
    on_fleet(&fleet, &["undo", &short(&plan), "--out", "$TMP/undo.json", allowed]);
    let undo = saved(&fleet, "undo.json");
    let refused = on_fleet(&fleet, &["apply", "$TMP/undo.json", "--expect", &undo.id]);
    let said = text(&refused);
    assert_eq!((refused.status.code(), is_there(&fleet)), (Some(3), false), "{said}");
    assert!(said.contains("insecure: TLS certificate of guest-a is not verified"), "{said}");
    let restored = on_fleet(&fleet, &["apply", "$TMP/undo.json", "--expect", &undo.id, allowed]);
    assert_eq!((restored.status.code(), is_there(&fleet)), (Some(0), true), "{}", text(&restored));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_backup_is_one_error_line_and_nothing_is_sent() {
    let fleet = fleet().await;
    let plan = deleted(&fleet);
    let saved = on_fleet(&fleet, &["undo", &short(&plan), "--out", "$TMP/undo.json"]);
    assert_eq!(saved.status.code(), Some(0), "{}", text(&saved));
    let said = text(&saved);
    assert!(said.contains("comes back without its uid and creation time"), "{said}");
    let undo = self::saved(&fleet, "undo.json");
    let key = state(&fleet).join("vault-key");
    let vault = state(&fleet).join("vault");
    let sealed = std::fs::read_dir(&vault).unwrap().next().unwrap().unwrap().path();
    let posts = || {
        fleet.guest.request_log().iter().filter(|one| one.method == "POST" && one.target.contains("secrets")).count()
    };
    let cases: [(&str, &std::path::Path, &str); 2] =
        [("no key", &key, "its key "), ("no backup", &sealed, "cannot be read")];
    for (case, path, message) in cases {
        let bytes = std::fs::read(path).unwrap();
        std::fs::remove_file(path).unwrap();
        let planned = on_fleet(&fleet, &["undo", &short(&plan), "--out", "$TMP/other.json"]);
        let said = text(&planned);
        assert_eq!(planned.status.code(), Some(3), "case: {case}: {said}");
        assert!(said.contains("backup: ") && said.contains(message), "case: {case}: {said}");
        let applied = on_fleet(&fleet, &["apply", "$TMP/undo.json", "--expect", &undo.id]);
        assert_eq!((applied.status.code(), posts()), (Some(4), 0), "case: {case}: {}", text(&applied));
        std::fs::write(path, bytes).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_plans_are_dropped_at_the_next_apply_and_verify_reports_it() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    let (old, young) = ("sha256:01d0000000", "sha256:7000000000");
    let folder = StateFolder::prepare(&state(&fleet)).unwrap();
    let mut opened = Journal::open(&folder, &Holder { name: "a test".to_owned(), pid: 1 }).unwrap();
    for (plan, days) in [(old, 91), (young, 89)] {
        let at = Timestamp::now() - SignedDuration::from_hours(24 * days);
        opened.journal.append(&finished(plan, at)).unwrap();
    }
    drop(opened);
    let applied = text(&apply(&fleet, &["--expect", &plan.id]));
    assert!(applied.contains("dropped 1 plan older than 90 days"), "{applied}");
    let listed = text(&trueup(fleet.dir.path(), &["history"]));
    assert!(!listed.contains("01d00000") && listed.contains("70000000"), "{listed}");
    let verified = trueup(fleet.dir.path(), &["history", "verify"]);
    let said = text(&verified);
    assert_eq!(verified.status.code(), Some(0), "{said}");
    assert!(
        said.contains("compacted") && said.contains("dropped 1 plan (4 records) past [safety] keep, after sha256:"),
        "{said}"
    );
}

/// The records of a plan that came to its end.
fn finished(plan: &str, at: Timestamp) -> Vec<Record> {
    let identity =
        ClusterIdentity { kube_system_uid: "k".to_owned(), ca_sha256: "c".to_owned(), ..ClusterIdentity::default() };
    let clusters = vec![ApprovedCluster::new("guest-a", identity)];
    let target = ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: None,
        name: "x".to_owned(),
        uid: None,
        cloud: None,
    };
    let (plan, action) = (plan.to_owned(), "a1".to_owned());
    let (who, host, how) = ("anna".to_owned(), "laptop".to_owned(), ApprovalWay::Typed);
    vec![
        Record::PlanApproved { plan: plan.clone(), who, host, how, at, clusters, undoes: None },
        Record::Intent {
            plan: plan.clone(),
            action: action.clone(),
            attempt: 1,
            cluster: "guest-a".to_owned(),
            target,
            uid: None,
            resource_version: None,
            verb: Does::Delete,
            labels: None,
            annotations: None,
            fields: None,
            keys: Vec::new(),
            deadline: at,
            at,
        },
        Record::Verified {
            plan: plan.clone(),
            action,
            state: VerifiedState::Gone,
            why: String::new(),
            version: None,
            at,
        },
        Record::Finished { plan, at, counts: [("gone".to_owned(), 1)].into() },
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_state_folder_sends_nothing() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    let elsewhere = self::fleet().await;
    let other = deleted(&elsewhere);
    let journal = state(&fleet).join("journal");
    type Spoil<'s> = &'s dyn Fn();
    let two_machines = || {
        let ours = finished("sha256:0000", Timestamp::now());
        let folder = StateFolder::prepare(&state(&fleet)).unwrap();
        Journal::open(&folder, &Holder { name: "a test".to_owned(), pid: 1 }).unwrap().journal.append(&ours).unwrap();
        let mut bytes = std::fs::read(&journal).unwrap();
        bytes.extend(std::fs::read(state(&elsewhere).join("journal")).unwrap());
        std::fs::write(&journal, bytes).unwrap();
    };
    let exposed = || {
        std::fs::remove_file(&journal).unwrap();
        std::fs::set_permissions(state(&fleet), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let no_folder = || {
        std::fs::remove_dir_all(fleet.dir.path().join("state")).unwrap();
        std::fs::write(fleet.dir.path().join("state"), "").unwrap();
    };
    let cases: [(&str, Spoil<'_>, &str); 3] = [
        ("a journal from two machines", &two_machines, "is from another journal"),
        ("readable by others", &exposed, "has mode 755, expected 700"),
        ("no folder can be made there", &no_folder, "cannot be made or read"),
    ];
    for (case, spoil, message) in cases {
        spoil();
        let output = apply(&fleet, &["--expect", &plan.id]);
        let said = text(&output);
        assert_eq!((output.status.code(), deletes(&fleet)), (Some(1), 0), "case: {case}: {said}");
        assert!(said.contains(message), "case: {case}: {said}");
        assert_eq!(said.lines().count(), 3, "case: {case}: one sentence: {said}");
    }
    assert!(!short(&other).is_empty() && is_there(&fleet));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_foreign_version_or_lookalike_plan_sends_nothing() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    let file = fleet.dir.path().join("plan.json");
    type Change = fn(&mut Plan);
    let cases: [(&str, Change, &[&str], i32, &str); 4] = [
        ("expired", |plan| plan.expires_at = plan.created_at, &[], 4, "expired at"),
        ("of another version", |plan| plan.engine = "9.9.9".to_owned(), &[], 4, "made by version 9.9.9"),
        (
            "a name that looks alike",
            |plan| plan.actions[0].tier = 4.try_into().unwrap(),
            &["--foreign-plan", "--confirm-cluster", "guest-\u{430}"],
            3,
            "--confirm-cluster guest-a",
        ),
        (
            "for another cluster",
            |plan| plan.targets[0].identity.kube_system_uid = "x".to_owned(),
            &["--foreign-plan"],
            3,
            "identity",
        ),
    ];
    for (case, change, args, code, message) in cases {
        let mut changed = plan.clone();
        change(&mut changed);
        changed.id = changed.computed_id().unwrap();
        std::fs::write(&file, serde_json::to_string(&changed).unwrap()).unwrap();
        let output = apply(&fleet, &[args, &["--expect", &changed.id]].concat());
        let said = text(&output);
        assert_eq!((output.status.code(), deletes(&fleet)), (Some(code), 0), "case: {case}: {said}");
        assert!(said.contains(message), "case: {case}: {said}");
        assert_eq!(said.lines().count(), 3, "case: {case}: one sentence: {said}");
    }
    assert!(is_there(&fleet), "{ORPHAN}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_reports_that_no_backup_is_possible() {
    let fleet = fleet().await;
    std::fs::create_dir_all(state(&fleet)).unwrap();
    std::fs::set_permissions(state(&fleet), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(state(&fleet).join("vault-key"), "no key").unwrap();
    std::fs::set_permissions(state(&fleet).join("vault-key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let output = on_fleet(&fleet, &["plan", "--settle", "1s"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("backup: no backup could be made: the vault's key") && said.contains("is no age key"),
        "{said}"
    );
}
