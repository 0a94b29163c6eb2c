//! Actions judged again: an undo equal to what the journal gives, field by field, and a copy with the source it was shown with.

use super::*;
use crate::engine::action::{Blocked, GateName, SourceBinding};
use crate::engine::change::{Change, MetadataChange};
use crate::engine::testing::{Given, finding, given, label};
use crate::engine::tier::Tier;
use crate::world::{Completeness, Gap, GapCause, ResourceVersion, Uid};

fn undo_action() -> Action {
    let mut action = given().finding(finding("a").deletes()).plan().actions.remove(0);
    action.origin = Origin::Undo { plan: "sha256:ab".to_owned(), action: "a1".to_owned() };
    action
}

fn derived(action: Action, left_out: &[&str]) -> UndoPlan {
    let mut plan = given().plan();
    plan.actions = vec![action];
    let left_out = left_out.iter().map(|why| (*why).to_owned()).collect();
    UndoPlan { plan, left_out, not_restored: Vec::new() }
}

#[test]
fn an_undo_is_the_same_only_when_the_journal_gives_it_field_by_field() {
    type Edit = fn(&mut Action);
    let other = |field| RecheckResult::Differs(Difference::OtherUndo { field });
    let blocked = || Blocked { gate: GateName::Policy, why: "denied".to_owned() };
    let cases: [(&str, Edit, RecheckResult); 13] = [
        ("equal", |_| {}, RecheckResult::Same),
        ("another id", |action| action.id = "a9".to_owned(), RecheckResult::Same),
        (
            "a gate of the file",
            |action| action.blocked_by.push(Blocked { gate: GateName::Policy, why: String::new() }),
            RecheckResult::Same,
        ),
        ("a higher tier", |action| action.tier = Tier::T4, RecheckResult::Same),
        ("a lower tier", |action| action.tier = Tier::T1, RecheckResult::Stricter { planned: Tier::T1, now: Tier::T3 }),
        ("target", |action| action.target.name.push('x'), other("target")),
        ("change", |action| action.change = Change::Label(MetadataChange::default()), other("change")),
        ("preconditions", |action| action.preconditions.uid = None, other("preconditions")),
        ("cluster", |action| action.cluster.push('x'), other("cluster")),
        ("diff", |action| action.diff.clear(), other("diff")),
        ("selected", |action| action.selected = false, other("selected")),
        ("dependencies", |action| action.depends_on.push("a2".to_owned()), other("depends_on")),
        (
            "another entry",
            |action| action.origin = Origin::Undo { plan: "sha256:cd".to_owned(), action: "a1".to_owned() },
            RecheckResult::Differs(Difference::NoUndo { why: "a2: it has no backup".to_owned() }),
        ),
    ];
    for (case, edit, expected) in cases {
        let mut action = undo_action();
        edit(&mut action);
        let journal = [derived(undo_action(), &["a2: it has no backup"])];
        assert_eq!(by_journal(&action, &journal), expected, "case: {case}");
    }
    let mut shut = undo_action();
    shut.blocked_by = vec![blocked()];
    assert_eq!(by_journal(&undo_action(), &[derived(shut, &[])]), RecheckResult::Blocked(vec![blocked()]));
}

#[test]
fn a_copy_whose_source_is_another_one_now_differs_by_its_source() {
    let with_source = |uid: &str, version: &str| {
        let mut draft = label("guest-a", "a");
        draft.source = Some(SourceBinding { uid: Uid::parse(uid), version: ResourceVersion::parse(version) });
        given().finding(finding("a").draft(draft))
    };
    let names: BTreeMap<String, ClusterName> = [("guest-a".to_owned(), ClusterName::new("guest-a"))].into();
    let plan = with_source("u1", "5").plan();
    let again = |uid: &str, version: &str| {
        let fresh = with_source(uid, version).fresh();
        recheck(&plan, &plan.actions[0], Current { names: &names, fresh: &fresh, undo: &[] })
    };
    assert_eq!(again("u1", "5"), RecheckResult::Same);
    assert_eq!(again("u1", "6"), RecheckResult::Differs(Difference::Source));
    assert_eq!(again("u2", "5"), RecheckResult::Differs(Difference::Source));
}

#[test]
fn a_scan_finds_nothing_only_where_every_list_was_read() {
    let names: BTreeMap<String, ClusterName> = [("guest-a".to_owned(), ClusterName::new("guest-a"))].into();
    let plan = given().finding(finding("a").deletes()).plan();
    let scan = |given: Given| {
        let fresh = given.fresh();
        scan_reference(&plan.actions[0], Current { names: &names, fresh: &fresh, undo: &[] })
    };
    let gap = Gap::new(GapCause::Forbidden, "listing secrets is forbidden");
    let unread = |mut given: Given| {
        given.observed[0].1 = Completeness::Unknown { gap: gap.clone() };
        given
    };
    let unknown = || ReferenceScan::Unknown("guest-a v1/secrets: listing secrets is forbidden".to_owned());
    // The object is gone; it is going, or there again without a reference; something refers to it.
    let still = || given().finding(finding("a").state(State::Match));
    let missing = || given().finding(finding("a").state(State::Missing));
    let referenced = || ReferenceScan::Referenced("nothing refers to it".to_owned());
    assert_eq!((scan(given()), scan(unread(given()))), (ReferenceScan::Nothing, unknown()));
    assert_eq!((scan(still()), scan(unread(still()))), (ReferenceScan::Nothing, unknown()));
    assert_eq!((scan(missing()), scan(unread(missing()))), (referenced(), referenced()));
}
