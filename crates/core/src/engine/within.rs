//! Whether the actions of a plan are among those of a plan that was reviewed earlier.
//!
//! Invariants: what counts is the write (cluster, target with its uid, verb and change) and that the reviewed plan had it
//! selected; preconditions may be newer, and the reviewed plan may have expired. A cluster whose kube-system namespace has
//! another uid is another cluster.
//!
//! Elsewhere: judging an action again before it is sent (`recheck`).

use std::fmt;

use serde_json::Value;

use super::plan::{Action, Plan};
use super::reference::ObjectRef;

/// An action that was not reviewed.
#[derive(Debug, PartialEq)]
pub struct NotReviewed<'p> {
    pub action: &'p Action,
    pub why: ReviewGap,
}

/// How an action differs from the reviewed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewGap {
    /// No action of the reviewed plan has this target and verb.
    NotListed,
    /// The reviewed plan lists it without selecting it.
    NotSelected { reviewed: String },
    /// The object of this name is another one.
    OtherObject { reviewed: String, now: String },
    /// The cluster of this name is another one.
    OtherCluster { reviewed: String, now: String },
    /// Something else would be written: the fields that differ, with both values as JSON.
    OtherChange(Vec<ChangedField>),
}

/// A field of two changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedField {
    pub path: String,
    /// Nothing where the change does not have the field.
    pub reviewed: Option<String>,
    pub now: Option<String>,
}

/// Returns the selected, unblocked actions of a plan that the reviewed plan does not hold, in the order of the plan.
pub fn not_reviewed<'p, F>(plan: &'p Plan<F>, reviewed: &Plan) -> Vec<NotReviewed<'p>> {
    let would_run = plan.actions.iter().filter(|action| action.selected && action.blocked_by.is_empty());
    let gaps = would_run.filter_map(|action| {
        let why = other_cluster(plan, reviewed, action).or_else(|| gap(action, &reviewed.actions))?;
        Some(NotReviewed { action, why })
    });
    gaps.collect()
}

fn other_cluster<F>(plan: &Plan<F>, reviewed: &Plan, action: &Action) -> Option<ReviewGap> {
    let before = reviewed.targets.iter().find(|target| target.cluster == action.cluster)?;
    let now = plan.targets.iter().find(|target| target.cluster == action.cluster)?;
    // The CA of a cluster may be renewed between the review and now.
    let id = |identity: &crate::world::ClusterIdentity| match identity.account.as_str() {
        "" => identity.kube_system_uid.clone(),
        account => account.to_owned(),
    };
    let (reviewed, now) = (id(&before.identity), id(&now.identity));
    (reviewed != now).then_some(ReviewGap::OtherCluster { reviewed, now })
}

/// What keeps an action from being one of the reviewed ones.
fn gap(action: &Action, reviewed: &[Action]) -> Option<ReviewGap> {
    let mut named: Vec<&Action> = reviewed
        .iter()
        .filter(|other| other.cluster == action.cluster && other.verb() == action.verb())
        .filter(|other| without_uid(&other.target) == without_uid(&action.target))
        .collect();
    let is_same = |other: &&Action| other.target.uid == action.target.uid && other.change == action.change;
    if let Some(same) = named.iter().copied().find(is_same) {
        return (!same.selected).then(|| ReviewGap::NotSelected { reviewed: same.id.clone() });
    }
    // The most similar one says best what differs.
    named.sort_by_key(|other| other.target.uid != action.target.uid);
    let Some(other) = named.first() else { return Some(ReviewGap::NotListed) };
    if other.target.uid != action.target.uid {
        let uid = |target: &ObjectRef| target.uid.clone().unwrap_or_else(|| "none".to_owned());
        return Some(ReviewGap::OtherObject { reviewed: uid(&other.target), now: uid(&action.target) });
    }
    let json = |action: &Action| serde_json::to_value(&action.change).unwrap_or_default();
    let mut fields = Vec::new();
    changed_fields(&mut fields, String::new(), Some(&json(other)), Some(&json(action)));
    Some(ReviewGap::OtherChange(fields))
}

fn without_uid(target: &ObjectRef) -> ObjectRef {
    ObjectRef { uid: None, ..target.clone() }
}

fn changed_fields(fields: &mut Vec<ChangedField>, path: String, reviewed: Option<&Value>, now: Option<&Value>) {
    match (reviewed, now) {
        (Some(one), Some(other)) if one == other => {}
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                changed_fields(fields, path, one.get(key), other.get(key));
            }
        }
        (reviewed, now) => {
            let text = |value: Option<&Value>| value.map(Value::to_string);
            fields.push(ChangedField { path, reviewed: text(reviewed), now: text(now) });
        }
    }
}

impl fmt::Display for ReviewGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListed => f.write_str("the reviewed plan does not hold it"),
            Self::NotSelected { reviewed } => {
                write!(f, "the reviewed plan lists it as {reviewed} without selecting it")
            }
            Self::OtherObject { reviewed, now } => write!(f, "uid was {reviewed} in the reviewed plan, is {now} now"),
            Self::OtherCluster { reviewed, now } => {
                write!(f, "its cluster was {reviewed:?} in the reviewed plan, is {now:?} now")
            }
            Self::OtherChange(fields) => {
                f.write_str("it would write something else:")?;
                for (number, ChangedField { path, reviewed, now }) in fields.iter().enumerate() {
                    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
                    let gap = if number == 0 { " " } else { "; " };
                    write!(f, "{gap}{path} was {}, is {} now", shown(reviewed), shown(now))?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{delete, finding, given, label};
    use super::super::{Blocked, Change, GateName, MetadataChange};
    use super::*;

    /// Two deletes and a label, all selected.
    fn plan() -> Plan {
        let all = given().finding(finding("a").deletes()).finding(finding("b").deletes());
        let plan = all.finding(finding("c").draft(label("guest-a", "c"))).plan();
        assert_eq!(plan.actions.iter().filter(|action| action.selected && action.blocked_by.is_empty()).count(), 3);
        plan
    }

    fn labelled(plan: &mut Plan, value: &str) {
        let change = MetadataChange { set: [("a".to_owned(), value.to_owned())].into(), remove: Vec::new() };
        on_label(plan).change = Change::Label(change);
    }

    fn on_label(plan: &mut Plan) -> &mut Action {
        plan.actions.iter_mut().find(|action| !action.is_delete()).expect("there is a label")
    }

    fn blocked() -> Blocked {
        Blocked { gate: GateName::Freeze, why: "Friday".to_owned() }
    }

    #[test]
    fn only_reviewed_writes_are_within_a_reviewed_plan() {
        type Edit = fn(&mut Plan);
        let cases: [(&str, Edit, Edit, &[&str]); 16] = [
            ("equal", |_| {}, |_| {}, &[]),
            ("subset", |now| drop(now.actions.remove(0)), |_| {}, &[]),
            ("nothing to do", |now| now.actions.clear(), |_| {}, &[]),
            ("nothing reviewed", |_| {}, |old| old.actions.clear(), &["does not hold it"; 3]),
            ("one more action", |_| {}, |old| drop(old.actions.remove(0)), &["does not hold it"]),
            ("one more, not selected", |now| now.actions[0].selected = false, |old| drop(old.actions.remove(0)), &[]),
            (
                "one more, blocked",
                |now| now.actions[0].blocked_by.push(blocked()),
                |old| drop(old.actions.remove(0)),
                &[],
            ),
            ("reviewed as not selected", |_| {}, |old| old.actions[0].selected = false, &["without selecting it"]),
            ("reviewed as blocked", |_| {}, |old| old.actions[0].blocked_by.push(blocked()), &[]),
            (
                "other uid",
                |now| now.actions[0].target.uid = Some("uid-2".to_owned()),
                |_| {},
                &["uid was uid-of-it in the reviewed plan, is uid-2 now"],
            ),
            ("uid not reviewed", |_| {}, |old| old.actions[0].target.uid = None, &["uid was none"]),
            (
                "other change",
                |now| labelled(now, "z"),
                |_| {},
                &["it would write something else: set.a was \"b\", is \"z\" now"],
            ),
            ("other verb", |now| on_label(now).change = Change::Delete, |_| {}, &["does not hold it"]),
            (
                "newer preconditions",
                |now| {
                    now.actions.iter_mut().for_each(|one| one.preconditions.resource_version = Some("999".to_owned()))
                },
                |_| {},
                &[],
            ),
            (
                "expired, other ids, another tier",
                |now| now.actions.iter_mut().for_each(|one| one.id.push('0')),
                |old| old.expires_at = "2020-01-01T00:00:00Z".parse().unwrap(),
                &[],
            ),
            (
                "another cluster of that name",
                |now| now.targets[0].identity.kube_system_uid = "other".to_owned(),
                |_| {},
                &["its cluster was \"uid-of-kube-system\" in the reviewed plan, is \"other\" now"; 3],
            ),
        ];
        for (case, edit_now, edit_reviewed, expected) in cases {
            let (mut now, mut reviewed) = (plan(), plan());
            edit_now(&mut now);
            edit_reviewed(&mut reviewed);
            let gaps = not_reviewed(&now, &reviewed);
            let said: Vec<String> = gaps.iter().map(|gap| gap.why.to_string()).collect();
            assert_eq!(said.len(), expected.len(), "case: {case}: {said:?}");
            for (said, expected) in said.iter().zip(expected) {
                assert!(said.contains(expected), "case: {case}: {said}");
            }
        }
    }

    #[test]
    fn a_renewed_certificate_authority_is_the_same_cluster() {
        let (mut now, reviewed) = (plan(), plan());
        now.targets[0].identity.ca_sha256 = "renewed".to_owned();
        assert_eq!(not_reviewed(&now, &reviewed), []);
    }

    #[test]
    fn of_two_writes_to_one_object_each_is_compared_with_its_own() {
        let mut draft = label("guest-a", "c");
        draft.change = Change::Label(MetadataChange { set: [("x".to_owned(), "y".to_owned())].into(), remove: vec![] });
        let two = finding("c").draft(label("guest-a", "c")).draft(draft);
        let plan = given().finding(two).finding(finding("d").draft(delete("guest-a", "d"))).plan();
        assert_eq!(not_reviewed(&plan, &plan), []);
    }

    #[test]
    fn a_changed_field_has_its_path_and_both_values() {
        let (one, other) = (json!({ "set": { "a": "b", "k": [1] } }), json!({ "set": { "a": "c" }, "remove": ["d"] }));
        let mut fields = Vec::new();
        changed_fields(&mut fields, String::new(), Some(&one), Some(&other));
        let said = ReviewGap::OtherChange(fields).to_string();
        let expected = "it would write something else: remove was nothing, is [\"d\"] now; set.a was \"b\", is \"c\" now; \
                        set.k was [1], is nothing now";
        assert_eq!(said, expected);
    }
}
