//! After the act: what an undo brings back, what the journal says of skipped actions, and which cluster comes last.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]

use std::io;
use std::path::Path;

use super::*;
use trueup_core::engine::executor::DryRunPort as _;
use trueup_core::engine::journal::{Answer, StateFolder};
use trueup_core::engine::vault::BackupDisk;

/// The looks an undo needs, as the cluster is now.
pub(super) async fn looks(stage: &Stage, port: &KubeCluster) -> BTreeMap<String, Look> {
    let mut looks = BTreeMap::new();
    for action in &stage.plan.actions {
        let object = match port.read(&action.target).await {
            Reading::Absent => ObjectNow::Absent,
            Reading::Unknown(why) => ObjectNow::Unknown(why),
            Reading::Present(seen) => ObjectNow::Present {
                uid: seen.uid.clone(),
                resource_version: seen.resource_version.clone(),
                labels: seen.labels.clone(),
                annotations: seen.annotations.clone(),
                fields: match &action.change {
                    Change::Patch(change) => {
                        let object = serde_json::from_slice(&seen.json).unwrap();
                        trueup_core::engine::fields_at(&object, &serde_json::Value::Object(change.patch.clone()))
                    }
                    _ => serde_json::Value::Null,
                },
            },
        };
        let sealed = !stage.vault.sealed.lock().unwrap().is_empty();
        let owners = match sealed {
            true => read_owners(port, stage.vault.owners("0").unwrap()).await,
            false => OwnersSeen::default(),
        };
        let backup = BackupSeen::Opens { lost: Vec::new() };
        looks.insert(action.id.clone(), Look { object, backup, owners });
    }
    looks
}

/// Plans the undo of what was run, and runs it.
pub(super) async fn take_back(stage: &mut Stage) -> Report {
    let records = stage.records.lock().unwrap().clone();
    let looks = looks(stage, &KubeCluster::new(stage.sim.client())).await;
    let undo = trueup_core::engine::undo(&entries(&records)[0], None, &looks, now(), PLAN_TTL).unwrap();
    assert_eq!(undo.left_out, Vec::<String>::new());
    stage.plan = undo.plan;
    stage.run().await
}

#[tokio::test(start_paused = true)]
async fn labels_that_were_set_go_back_to_what_they_were() {
    for (case, before) in
        [("another value", json!({ "a": "former", "kept": "1" })), ("none at all", json!({ "kept": "1" }))]
    {
        let mut stage = stage_with_object("label-c", |object| object["metadata"]["labels"] = before.clone());
        let report = stage.run().await;
        assert_eq!(report.code(), 0, "case: {case}: {report:?}");
        let labels = |stage: &Stage| {
            stage.sim.object("v1", "Secret", &format!("{NAMESPACE}/label-c")).unwrap()["metadata"]["labels"].clone()
        };
        assert_eq!(labels(&stage), json!({ "a": "b", "kept": "1" }), "case: {case}");
        let report = take_back(&mut stage).await;
        assert_eq!((report.code(), labels(&stage)), (0, before), "case: {case}: {report:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_comes_back_with_the_owners_that_live() {
    let owner = |name: &str, uid: &Value| json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid });
    let config_map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE}});
    type Change = fn(&SimCluster);
    let cases: [(&str, Change, usize, &str); 4] = [
        ("it lives", |_| {}, 1, ""),
        ("it is gone", |sim| drop(sim.remove("v1", "ConfigMap", "openshift-config/owner").unwrap()), 0, "it is gone"),
        (
            "another one has its name",
            |sim| {
                sim.remove("v1", "ConfigMap", "openshift-config/owner").unwrap();
                sim.seed(json!({"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": "owner", "namespace": NAMESPACE}}))
                    .unwrap();
            },
            0,
            "another one has its name",
        ),
        (
            "nobody may read it",
            |sim| {
                let forbidden = FaultAction::Refuse { code: 403, retry_after_seconds: None };
                sim.fault(Fault::always(Matcher::of("configmaps").verb(Verb::Get), forbidden));
            },
            0,
            "not known",
        ),
    ];
    for (case, change, kept, message) in cases {
        let mut stage = stage_with_object("a", |_| {});
        let living = stage.sim.seed(config_map("owner")).unwrap();
        let references = json!([owner("owner", &living["metadata"]["uid"])]);
        let edited = stage.sim.edit("v1", "Secret", "openshift-config/a", |object| {
            object["metadata"]["ownerReferences"] = references.clone();
        });
        stage.rebind("a", &edited.unwrap());
        let report = stage.run().await;
        assert_eq!((report.code(), stage.is_there("a")), (0, false), "case: {case}: {report:?}");
        change(&stage.sim);
        let seen = looks(&stage, &KubeCluster::new(stage.sim.client())).await.into_values().next().unwrap().owners;
        assert_eq!(seen.living.len(), kept, "case: {case}");
        assert!(seen.dropped.concat().contains(message), "case: {case}: {seen:?}");
        let report = take_back(&mut stage).await;
        assert_eq!(report.code(), 0, "case: {case}: {report:?}");
        let after = stage.sim.object("v1", "Secret", "openshift-config/a").unwrap();
        let owners = after["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len);
        assert_eq!(owners, kept, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_died_after_the_undo_was_planned_stops_it() {
    let mut stage = stage_with_object("a", |_| {});
    let living =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner", "namespace": NAMESPACE}});
    let uid = stage.sim.seed(living).unwrap()["metadata"]["uid"].clone();
    let edited = stage.sim.edit("v1", "Secret", "openshift-config/a", |object| {
        let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid });
        object["metadata"]["ownerReferences"] = json!([owner]);
    });
    stage.rebind("a", &edited.unwrap());
    stage.run().await;
    let records = stage.records.lock().unwrap().clone();
    let looks = looks(&stage, &KubeCluster::new(stage.sim.client())).await;
    stage.plan = trueup_core::engine::undo(&entries(&records)[0], None, &looks, now(), PLAN_TTL).unwrap().plan;
    stage.sim.remove("v1", "ConfigMap", "openshift-config/owner").unwrap();
    let report = stage.run().await;
    assert_eq!((report.code(), stage.is_there("a")), (4, false), "{report:?}");
    assert_eq!(stage.requests("POST"), 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_skipped_is_in_the_journal_with_its_target_and_reason() {
    let mut stage = stage(&["a", "b"]);
    stage.judges.differs.insert("a".to_owned(), "in use".to_owned());
    stage.run().await;
    let records = stage.records.lock().unwrap().clone();
    let skipped: Vec<(&str, &str)> = records
        .iter()
        .filter_map(|record| match record {
            Record::Skipped { target, why, .. } => Some((target.name.as_str(), why.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(skipped, [("a", "judged again: in use")]);
    let again = stage.run().await;
    assert_eq!(stage.end(&again, "b").as_str(), "skipped");
    let entry = entries(&stage.records.lock().unwrap().clone()).remove(0);
    let gone = entry.actions.iter().filter(|action| action.sent.is_some()).count();
    assert_eq!(gone, 1, "that b was skipped later does not hide that it was deleted");
    assert!(
        entry
            .actions
            .iter()
            .any(|action| matches!(action.standing, ActionStanding::Verified { state: VerifiedState::Gone, .. }))
    );
}

#[tokio::test(start_paused = true)]
async fn clusters_run_by_name_and_what_needs_most_approval_comes_last() {
    let tiers = [("a", Tier::T3), ("b", Tier::T1), ("c", Tier::T4), ("d", Tier::T2), ("e", Tier::T3)];
    let mut stage = stage(&[]);
    let (mut target, mut sample) = (stage.plan.targets[0].clone(), self::stage(&["x"]).plan.actions.remove(0));
    stage.plan.targets.clear();
    for (name, tier) in tiers {
        (target.cluster, sample.cluster, sample.tier) = (name.to_owned(), name.to_owned(), tier);
        sample.id = format!("a-{name}");
        stage.plan.targets.push(target.clone());
        stage.plan.actions.push(sample.clone());
    }
    stage.plan.id = stage.plan.computed_id().unwrap();
    let progress_log = Arc::new(Mutex::new(Vec::new()));
    stage.progress_log = Some(progress_log.clone());
    stage.run().await;
    assert_eq!(*progress_log.lock().unwrap(), ["a-b", "a-d", "a-a", "a-e", "a-c"]);
}

/// A disk whose one ability is missing.
#[derive(Debug, Clone, Copy)]
enum Lame {
    Writing,
    Reading,
}

impl BackupDisk for Lame {
    fn write_new(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        match self {
            Self::Writing => Err(io::Error::from(io::ErrorKind::StorageFull)),
            Self::Reading => Ok(()),
        }
    }

    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::Error::other("input/output error"))
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_backup_that_can_not_be_written_or_read_back_ends_its_delete_before_it_is_sent() {
    for (disk, message) in [(Lame::Writing, "cannot be written"), (Lame::Reading, "cannot be read")] {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::prepare(&folder.path().join("trueup")).unwrap();
        let mut stage = stage(&["a"]);
        stage.real_vault = Some(Vault::prepare(&state, &[]).unwrap().on_disk(Box::new(disk)));
        let report = stage.run().await;
        let end = stage.end(&report, "a");
        assert!(
            matches!(end, ActionResult::Skipped { class: Skip::Gate, why } if why.contains(message)),
            "{disk:?}: {end:?}"
        );
        assert_eq!((stage.requests("DELETE"), report.code()), (0, 3), "{disk:?}");
        let records = stage.records.lock().unwrap().clone();
        assert!(records.iter().all(|record| kind(record) != "intent"), "{disk:?}: {records:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_finalizer_holds_comes_back_once_it_is_let_go() {
    for (case, lets_go_after, expected) in [
        ("while the last look back waits", Some(REFERENCE_SCAN_AFTER + Duration::from_secs(20)), "restored"),
        ("never", None, "terminating"),
    ] {
        let mut stage = stage_with_object("a", |object| object["metadata"]["finalizers"] = json!(["theirs.io/hold"]));
        stage.on_new_reference = OnNewReference::Restore;
        stage.judges.referenced.extend([1, 2].map(|look| (look, "a HostedCluster names it".to_owned())));
        let sim = stage.sim.clone();
        let others = async move {
            let Some(after) = lets_go_after else { return };
            tokio::time::sleep(after).await;
            sim.remove("v1", "Secret", &format!("{NAMESPACE}/a")).unwrap();
        };
        let (report, ()) = tokio::join!(stage.run(), others);
        assert_eq!(stage.end(&report, "a").as_str(), expected, "case: {case}: {report:?}");
        let has_notice =
            report.notices.iter().any(|notice| notice.contains("trueup undo") && notice.contains("finalizer"));
        assert_eq!((has_notice, report.code()), (expected == "terminating", 2), "case: {case}: {report:?}");
        let posts = stage.requests("POST");
        assert_eq!(posts, usize::from(expected == "restored"), "case: {case}: a taken name is not asked for");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_changes_nothing_whatever_is_rehearsed() {
    let stage = stage(&["a"]);
    let port = KubeCluster::new(stage.sim.client());
    let (target, bound) = (&stage.plan.actions[0].target, &stage.plan.actions[0].preconditions);
    let (uid, resource_version) = (bound.uid.as_deref().unwrap(), bound.resource_version.as_deref().unwrap());
    let patch = Patch::labels([("x".to_owned(), "y".to_owned())].into(), Vec::new());
    let bound = Some((uid, resource_version));
    let free = ObjectRef { name: "free".to_owned(), uid: None, ..target.clone() };
    let object = Zeroizing::new(secret("free").to_string().into_bytes());
    let writes = [
        ("delete", Write::Delete { target, uid, resource_version }),
        ("change", Write::Change { target, uid, resource_version, patch: &patch }),
        ("apply", Write::Apply { target, bound, patch: &patch }),
        ("create", Write::Create { target: &free, object: &object }),
    ];
    for (case, write) in writes {
        let before = stage.sim.version();
        let reply = port.dry_run(write).await;
        assert_eq!(reply.answer, Answer::Done, "case: {case}");
        assert_eq!(stage.sim.version(), before, "case: {case}");
        assert!(stage.is_there("a") && !stage.is_there("free"), "case: {case}");
    }
}
