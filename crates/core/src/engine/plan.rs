//! A plan: the proposed actions, what they rest on, and an id that binds both.
//!
//! Invariants:
//! - the id is a digest over the file's whole JSON without `id` and `mark`, keys this version does not know included;
//! - findings and actions are sorted by id, timestamps are whole seconds, numbers are integers;
//! - no secret and no digest of a secret is in it;
//! - a plan decides nothing: everything that protects is computed again before it is applied ([`super::admit`]).
//!
//! Elsewhere: building one ([`super::build()`]), writing one finding by finding (`streamed`), its mark (`mark`).

mod action;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use action::{Action, ActionFault, ActionReadError};

use super::canonical::{
    ListDigest, NotCanonical, ObjectDigest, canonical_bytes, canonical_digest, canonical_digest_of,
};
use super::change::Change;
use super::finding::{Evidence, State};
use super::judged::JudgedFields;
use super::reference::ObjectRef;
use super::text::Printable;
use crate::world::{Cluster, ClusterIdentity, ClusterSource, Link, RiskClass};
use action::ActionFile;

/// The shape of the file. Keys may be added under the same name; nothing may change meaning.
pub const PLAN_SCHEMA: &str = "trueup/plan/v1";

/// Default validity of a plan: long enough to read it, short enough that the world is still the one it shows.
pub const PLAN_TTL: SignedDuration = SignedDuration::from_mins(15);

/// Default of the longest validity a plan may claim: a week, for a change window.
pub const PLAN_TTL_MAX: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A plan as its file holds it. Where its findings are written one by one, `F` makes them ([`super::StreamedPlan`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan<F = Vec<Finding>> {
    pub schema: String,
    pub id: String,
    /// The keyed mark of the state folder the plan was made with. Not part of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The version of the program that made it.
    pub engine: String,
    pub targets: Vec<TargetRecord>,
    pub observations: Vec<ObservationRecord>,
    pub findings: F,
    pub actions: Vec<Action>,
    pub summary: Summary,
}

/// A cluster that was judged, or an account that something would be done in for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    pub cluster: String,
    pub source: TargetSource,
    pub class: RiskClass,
    pub identity: ClusterIdentity,
}

named_enum! {
    /// Where the facts of a target come from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum TargetSource {
        Kubeconfig = "kubeconfig",
        Hosted = "hosted",
        /// A folder: it can be judged, not written to.
        Snapshot = "snapshot",
        Local = "local",
        Cloud = "cloud",
        /// An undo names its clusters as the journal does.
        Journal = "journal",
    }
}

impl TargetSource {
    /// Returns the source of a member of the fleet. An account read from a folder is a snapshot too.
    pub fn of(member: &Cluster) -> Self {
        match &member.source {
            _ if member.link == Link::Recorded => Self::Snapshot,
            ClusterSource::Kubeconfig { .. } => Self::Kubeconfig,
            ClusterSource::Hosted { .. } => Self::Hosted,
            ClusterSource::Snapshot => Self::Snapshot,
            ClusterSource::Local => Self::Local,
            ClusterSource::Cloud { .. } => Self::Cloud,
        }
    }
}

/// How well a collection was known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationRecord {
    pub cluster: String,
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The one object that was read by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label_selector: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field_selector: String,
    /// `metadata` when nothing else was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Why it is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// So many further collections of this cluster are unknown for the same reason. They have no records of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What was judged of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub id: String,
    pub domain: String,
    pub cluster: String,
    pub subject: ObjectRef,
    /// `match` for an accepted finding; what it would be is in `accepted`.
    pub state: State,
    pub verdict: String,
    pub codes: Vec<String>,
    pub summary: String,
    pub evidence: Vec<Evidence>,
    pub expected: Value,
    pub actual: Value,
    pub actions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Acceptance>,
}

/// Why a finding counts as match although it is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    pub reason: String,
    pub until: String,
    /// The state without the acceptance.
    pub state: State,
}

/// What has to be true of the target, and of what is copied, when the request arrives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preconditions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// For kinds whose version their controllers move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedFields>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourcePrecondition>,
    /// The tags a cloud resource has to carry, no more and no less: those it was judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The state a cloud resource has to be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// The exact source a copy was planned from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourcePrecondition {
    pub uid: String,
    pub resource_version: String,
}

/// Counts of what is in the plan. What is not there is not named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// By state.
    pub findings: BTreeMap<String, u64>,
    /// By verb.
    pub actions: BTreeMap<String, u64>,
    /// Actions that something speaks against.
    pub blocked: u64,
}

/// Why a file is not a plan this program may rely on.
#[derive(Debug, thiserror::Error)]
pub enum PlanReadError {
    #[error("plan is not JSON of schema `{PLAN_SCHEMA}`: {0}")]
    Shape(#[from] serde_json::Error),
    #[error("plan has schema `{found}`, expected `{PLAN_SCHEMA}`")]
    Schema { found: String },
    #[error("plan holds a number that is not an integer")]
    Number(#[from] NotCanonical),
    #[error("plan was edited: id is {written}, its content has {computed}")]
    OtherId { written: String, computed: String },
    #[error("plan lists cluster {cluster} twice; run trueup plan again")]
    RepeatedTarget { cluster: String },
    #[error(transparent)]
    Action(#[from] ActionReadError),
}

/// Returns the first action that makes the same change of the same object as one before it. A cloud resource may be
/// changed for several findings.
fn repeated_write(actions: &[Action]) -> Option<&Action> {
    let mut known: BTreeMap<_, Vec<&Change>> = BTreeMap::new();
    actions.iter().filter(|action| action.target.cloud.is_none()).find(|action| {
        let ObjectRef { api_version, kind, namespace, name, uid: _, cloud: _ } = &action.target;
        let changes = known.entry((&action.cluster, api_version, kind, namespace, name)).or_default();
        let is_repeated = changes.contains(&&action.change);
        changes.push(&action.change);
        is_repeated
    })
}

impl Plan {
    /// Returns the plan as files and `-o json` hold it, with everything that could mislead a terminal escaped.
    pub fn file_text(&self) -> Printable {
        let text = serde_json::to_string_pretty(self).expect("a plan is made of JSON values and text keys");
        Printable::json(&text).ended()
    }

    /// Reads a plan and verifies its id.
    ///
    /// # Errors
    /// The text is not a plan of this schema, its content was edited, or an action is not complete in itself.
    pub fn read(text: &str) -> Result<Self, PlanReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
            id: String,
        }
        let mut json: Value = serde_json::from_str(text)?;
        let Head { schema, id: written } = Head::deserialize(&json)?;
        if schema != PLAN_SCHEMA {
            return Err(PlanReadError::Schema { found: schema });
        }
        // The id is checked over the text's own JSON, because the typed plan drops keys of newer versions.
        let computed = id_of(&json)?;
        if written != computed {
            return Err(PlanReadError::OtherId { written, computed });
        }
        // One by one, so that the error names the action.
        let (mut actions, mut ids) = (Vec::new(), BTreeSet::new());
        if let Some(Value::Array(found)) = json.get_mut("actions") {
            for action in std::mem::take(found) {
                let action = Action::try_from(ActionFile::deserialize(&action)?)?;
                // Journal and report know an action by its id.
                if !ids.insert(action.id.clone()) {
                    return Err(ActionReadError { action: action.id, fault: ActionFault::Repeated }.into());
                }
                actions.push(action);
            }
        }
        if let Some(action) = repeated_write(&actions) {
            return Err(ActionReadError { action: action.id.clone(), fault: ActionFault::RepeatedWrite }.into());
        }
        let mut plan = Self::deserialize(json)?;
        // A run goes through the clusters one after another: one that is listed twice would be run twice.
        let mut clusters = BTreeSet::new();
        if let Some(target) = plan.targets.iter().find(|target| !clusters.insert(target.cluster.as_str())) {
            return Err(PlanReadError::RepeatedTarget { cluster: target.cluster.clone() });
        }
        plan.actions = actions;
        Ok(plan)
    }

    /// The step each action belongs to, in the plan's order: 0 depends on nothing, every other comes after all it depends on.
    pub fn steps(&self) -> Vec<usize> {
        let places: BTreeMap<&str, usize> = self.actions.iter().map(|action| action.id.as_str()).zip(0..).collect();
        let mut steps = vec![0; self.actions.len()];
        // A chain is no longer than there are actions, and actions that wait for each other end there.
        for _ in 0..self.actions.len() {
            let mut is_settled = true;
            for (place, action) in self.actions.iter().enumerate() {
                let before = action.depends_on.iter().filter_map(|id| places.get(id.as_str()));
                let step = before.map(|before| steps[*before] + 1).max().unwrap_or(0);
                is_settled &= std::mem::replace(&mut steps[place], step) == step;
            }
            if is_settled {
                break;
            }
        }
        steps
    }

    /// Whether the id is the one of this content.
    ///
    /// # Errors
    /// The content has another id, or holds a number that is no integer.
    pub fn verify_id(&self) -> Result<(), PlanReadError> {
        let computed = self.computed_id()?;
        if self.id == computed { Ok(()) } else { Err(PlanReadError::OtherId { written: self.id.clone(), computed }) }
    }

    /// The id this content should have.
    ///
    /// # Errors
    /// A number in it is not an integer.
    pub fn computed_id(&self) -> Result<String, NotCanonical> {
        let texts = |list: &mut ListDigest<'_>| {
            self.findings.iter().try_for_each(|finding| list.item(canonical_bytes(finding)))
        };
        self.id_with(texts)
    }
}

impl<F> Plan<F> {
    /// The id of this content, with the canonical texts of its findings from `texts`: all of the file is covered but the
    /// id and the mark.
    ///
    /// # Errors
    /// A number in it is not an integer.
    pub(super) fn id_with(
        &self,
        texts: impl FnOnce(&mut ListDigest<'_>) -> Result<(), NotCanonical>,
    ) -> Result<String, NotCanonical> {
        // Every field matters here: one that is forgotten would not be covered by the id.
        let Self {
            schema,
            id: _,
            mark: _,
            created_at,
            expires_at,
            engine,
            targets,
            observations,
            findings: _,
            actions,
            summary,
        } = self;
        let mut digest = ObjectDigest::new();
        digest.member("actions", actions)?;
        digest.member("created_at", created_at)?;
        digest.member("engine", engine)?;
        digest.member("expires_at", expires_at)?;
        digest.list("findings", texts)?;
        digest.member("observations", observations)?;
        digest.member("schema", schema)?;
        digest.member("summary", summary)?;
        digest.member("targets", targets)?;
        Ok(digest.finish())
    }

    /// The same plan with other findings.
    pub(super) fn with_findings<G>(self, make: impl FnOnce(F) -> G) -> Plan<G> {
        let Self {
            schema,
            id,
            mark,
            created_at,
            expires_at,
            engine,
            targets,
            observations,
            findings,
            actions,
            summary,
        } = self;
        let findings = make(findings);
        Plan { schema, id, mark, created_at, expires_at, engine, targets, observations, findings, actions, summary }
    }
}

impl Summary {
    pub fn of(states: impl IntoIterator<Item = State>, actions: &[Action]) -> Self {
        let mut summary = Self::default();
        for state in states {
            match summary.findings.get_mut(state.as_str()) {
                Some(count) => *count += 1,
                None => drop(summary.findings.insert(state.as_str().to_owned(), 1)),
            }
        }
        for action in actions {
            *summary.actions.entry(action.verb().as_str().to_owned()).or_default() += 1;
            summary.blocked += u64::from(!action.blocked_by.is_empty());
        }
        summary
    }
}

/// The digest over a file's JSON without `id` and `mark`.
fn id_of(plan: &Value) -> Result<String, NotCanonical> {
    match plan {
        Value::Object(keys) => {
            let bound = |(key, _): &(&String, &Value)| key.as_str() != "id" && key.as_str() != "mark";
            canonical_digest_of(&keys.iter().filter(bound).collect::<BTreeMap<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => canonical_digest(plan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{delete, finding, given};
    use serde_json::json;

    #[test]
    fn an_action_of_a_file_is_complete_in_itself_or_the_plan_is_not_read() {
        type Edit = fn(&mut Value);
        let cases: [(&str, Edit, &str); 9] = [
            ("no origin", |one| drop(one.as_object_mut().unwrap().remove("origin")), "action a1: origin is missing"),
            ("no finding", |one| one["finding"] = json!(""), "action a1: finding is ``, which contradicts its origin"),
            ("another finding", |one| one["finding"] = json!("x"), "finding is `x`, which contradicts its origin"),
            (
                "an undo that names a finding",
                |one| one["origin"] = json!({ "undo": "sha256:ab/a1" }),
                "which contradicts its origin",
            ),
            (
                "a backup",
                |one| one["change"] = json!({ "backup": "f.age" }),
                "action a1: change does not fit verb delete",
            ),
            ("another verb", |one| one["verb"] = json!("label"), "action a1: change of verb label writes nothing"),
            ("a verb of clouds", |one| one["verb"] = json!("tag"), "action a1: change of verb tag writes nothing"),
            (
                "tags of an object",
                |one| (one["verb"], one["change"]) = (json!("tag"), json!({ "set": ["a"], "remove": [] })),
                "action a1: tag does not apply to its target",
            ),
            ("another collection", |one| one["rests_on"] = json!(["secrets"]), "`secrets` is not a collection"),
        ];
        let plan = given().finding(finding("a").deletes()).plan();
        for (case, edit, expected) in cases {
            let mut file = serde_json::to_value(&plan).unwrap();
            edit(&mut file["actions"][0]);
            file["id"] = json!(id_of(&file).unwrap());
            let error = Plan::read(&file.to_string()).unwrap_err().to_string();
            assert!(error.contains(expected), "case: {case}: {error}");
        }
        let mut twice = serde_json::to_value(&plan).unwrap();
        twice["actions"] = json!([twice["actions"][0], twice["actions"][0]]);
        twice["id"] = json!(id_of(&twice).unwrap());
        let error = Plan::read(&twice.to_string()).unwrap_err().to_string();
        assert!(error.contains("action a1: its id is used twice"), "{error}");
    }

    #[test]
    fn what_waits_for_others_comes_after_all_of_them() {
        let drafts = ["a", "b", "c", "d"].map(|name| finding(name).draft(delete("guest-a", name)));
        let plan = drafts.into_iter().fold(given(), |given, finding| given.finding(finding)).plan();
        type Waits = &'static [(usize, &'static [usize])];
        let cases: [(&str, Waits, [usize; 4]); 4] = [
            ("no dependencies", &[], [0, 0, 0, 0]),
            ("a chain against the plan's order", &[(0, &[1]), (1, &[2]), (2, &[3])], [3, 2, 1, 0]),
            ("for the later of two", &[(3, &[0, 2]), (2, &[1])], [0, 0, 1, 2]),
            ("on an unknown action", &[(0, &[9])], [0, 0, 0, 0]),
        ];
        for (case, waits, expected) in cases {
            let mut plan = plan.clone();
            for (place, before) in waits {
                let id = |place: &usize| plan.actions.get(*place).map_or("a9".to_owned(), |action| action.id.clone());
                plan.actions[*place].depends_on = before.iter().map(id).collect();
            }
            assert_eq!(plan.steps(), expected, "case: {case}");
        }
        let mut circle = plan;
        for (place, other) in [(0, 1), (1, 0)] {
            circle.actions[place].depends_on = vec![circle.actions[other].id.clone()];
        }
        assert_eq!(circle.steps()[2..], [0, 0], "a circle does not hold up the others");
    }
}
