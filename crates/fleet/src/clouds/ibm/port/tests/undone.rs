//! Tags attached, detached and given to another owner, and all of it undone; accounts without a cluster.

use super::*;
use trueup_core::engine::executor::read_object_now;
use trueup_core::engine::journal::ActionEntry;
use trueup_core::engine::{BackupSeen, Look, OwnersSeen, PLAN_TTL, UndoPlan, undo};

const OLD_UUID: &str = "powervs.cluster.x-k8s.io-cluster-uuid:u-0";

impl Stage {
    fn set_tags(&self, id: &str, tags: &[&str]) {
        let tags: BTreeSet<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        self.sim.with(|server, now| server.edit(now, id, |thing| thing.tags = tags.clone()));
    }

    /// The inverse of the last plan, as the account is now.
    async fn undo(&self) -> UndoPlan {
        let entry = self.entries().pop().unwrap();
        let port = ClusterWithAccounts::new(self.cluster.client(), self.accounts.clone());
        let mut looks = BTreeMap::new();
        for ActionEntry { id, sent, .. } in &entry.actions {
            let Some(sent) = sent else { continue };
            let object = read_object_now(&port, sent).await;
            let look = Look { object, backup: BackupSeen::None, owners: OwnersSeen::default() };
            looks.insert(id.clone(), look);
        }
        undo(&entry, None, &looks, self.now(), PLAN_TTL).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn every_tag_change_can_be_undone() {
    let cases = [
        (
            "tagged",
            "tag",
            vec!["a:b"],
            vec!["a:b", OWNER, UUID],
            json!({ "set": [UUID, OWNER], "remove": [] }),
            "untag",
        ),
        ("untagged", "untag", vec!["a:b", OWNER], vec![OWNER], json!({ "set": [], "remove": ["a:b"] }), "tag"),
        (
            "re-owned",
            "re-own",
            vec![OLD_UUID, OWNER],
            vec![UUID, OWNER],
            json!({ "set": [UUID, OWNER], "remove": [OLD_UUID] }),
            "re-own",
        ),
    ];
    for (case, verb, before, after, change, inverse) in cases {
        let stage = stage();
        stage.set_tags("vpc", &before);
        let action = stage.action("a1", verb, "vpc", change, &[]);
        assert_eq!(stage.run(stage.plan(vec![action])).await.code(), 0, "case: {case}");
        let sorted = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(stage.tags("vpc").into_iter().collect::<BTreeSet<_>>(), sorted(&after), "case: {case}");

        let UndoPlan { plan, left_out, .. } = stage.undo().await;
        assert_eq!((plan.actions[0].verb().as_str(), left_out.len()), (inverse, 0), "case: {case}");
        assert_eq!(plan.actions[0].preconditions.tags, Some(sorted(&after).into_iter().collect()), "case: {case}");
        assert_eq!(stage.run(plan).await.code(), 0, "case: {case}");
        assert_eq!(stage.tags("vpc").into_iter().collect::<BTreeSet<_>>(), sorted(&before), "case: {case}");
        let again = stage.undo().await;
        assert_eq!(again.plan.actions[0].verb().as_str(), verb, "case: {case}: an undo can be undone");
    }
}

#[tokio::test(start_paused = true)]
async fn tags_somebody_changed_since_are_left_alone() {
    let changed = "tags of vpc vpc changed after apply";
    let cases: [(&str, &[&str], &str); 4] = [
        ("one of ours is gone", &["a:b", OWNER], changed),
        ("another one came", &["a:b", OWNER, UUID, "new:1"], changed),
        ("another one went", &[OWNER, UUID], changed),
        ("they are as before", &["a:b"], "are already as before"),
    ];
    for (case, now, expected) in cases {
        let stage = stage();
        stage.set_tags("vpc", &["a:b"]);
        let tag = stage.action("a1", "tag", "vpc", json!({ "set": [UUID, OWNER], "remove": [] }), &[]);
        assert_eq!(stage.run(stage.plan(vec![tag])).await.code(), 0, "case: {case}");
        stage.set_tags("vpc", now);
        let UndoPlan { plan, left_out, .. } = stage.undo().await;
        assert!(plan.actions.is_empty() && left_out[0].contains(expected), "case: {case}: {left_out:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn several_changes_of_one_resource_are_ordered_and_undone_together() {
    let stage = stage();
    stage.set_tags("their-tg", &["team:net"]);
    let tag = |id: &str, tag: &str| stage.action(id, "tag", "their-tg", json!({ "set": [tag], "remove": [] }), &[]);
    let untag = stage.action("a3", "untag", "their-tg", json!({ "set": [], "remove": ["team:net"] }), &[]);
    let plan = stage.plan(vec![tag("a1", "x:1"), tag("a2", "x:2"), untag]);
    let report = stage.run(plan).await;
    assert_eq!(report.code(), 0, "{:?}", report.ends);
    assert_eq!(stage.tags("their-tg"), ["x:1", "x:2"]);
    let UndoPlan { plan, left_out, .. } = stage.undo().await;
    assert_eq!((plan.actions.len(), left_out.len()), (3, 0), "{left_out:?}");
    let report = stage.run(plan).await;
    assert_eq!(report.code(), 0, "{:?}", report.ends);
    assert_eq!(stage.tags("their-tg"), ["team:net"]);
}

#[tokio::test(start_paused = true)]
async fn somebody_who_comes_between_two_changes_stops_the_second() {
    let mut stage = stage();
    let sent = Arc::new(AtomicUsize::new(0));
    stage.before_send = Arc::new(move |sim| {
        if sent.fetch_add(1, Ordering::SeqCst) == 1 {
            sim.with(|server, now| server.edit(now, "vpc", |vpc| _ = vpc.tags.insert("theirs:1".to_owned())));
        }
    });
    let tag = |id: &str, tag: &str| stage.action(id, "tag", "vpc", json!({ "set": [tag], "remove": [] }), &[]);
    let report = stage.run(stage.plan(vec![tag("a1", "x:1"), tag("a2", "x:2")])).await;
    assert_eq!(report.ends["a1"], ActionResult::Done(VerifiedState::Changed));
    assert!(matches!(report.ends["a2"], ActionResult::Failed { .. }), "{:?}", report.ends);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_says_why_it_has_no_way_back() {
    let stage = stage();
    let delete = |id: &str, target: &str| stage.action(id, "delete", target, json!({}), &[]);
    let plan = stage.plan(vec![delete("a1", "cos"), delete("a2", "lb")]);
    assert_eq!(stage.run(plan).await.code(), 0);
    let UndoPlan { plan, left_out, .. } = stage.undo().await;
    assert!(plan.actions.is_empty());
    assert!(left_out[0].contains("keeps it for up to 7 days: find cos with `ibmcloud resource rec"), "{left_out:?}");
    assert_eq!(left_out[1], "a2: a deleted load-balancer of a cloud has no backup; create a new one");
}

#[tokio::test(start_paused = true)]
async fn an_account_is_written_to_for_itself_only_while_the_key_is_that_accounts() {
    let account = |id: &str| json!({ "kube_system_uid": "", "ca_sha256": "", "account": id });
    for (case, who, code) in [
        ("the same", account(ACCOUNT), 0),
        ("another account", account("ffff"), 3),
        ("nobody says", account(""), 3),
        ("a cluster", identity(), 3),
    ] {
        let mut stage = stage();
        stage.target = ("ibm:main", account(ACCOUNT));
        stage.who = who;
        let delete = stage.action("a1", "delete", "cos", json!({}), &[]);
        let report = stage.run(stage.plan(vec![delete])).await;
        assert_eq!((report.code(), stage.is_there("cos")), (code, code != 0), "case: {case}: {:?}", report.ends);
        assert_eq!(stage.accepted_deletes().len(), usize::from(code == 0), "case: {case}");
    }
}
