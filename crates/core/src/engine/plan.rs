//! A plan: what would be done, what it rests on, and an id that binds both.
//!
//! Always true:
//! - the id is a digest over the file's whole JSON without `id`, keys this version does not know included;
//! - findings and actions are sorted by id, timestamps are whole seconds, numbers are integers;
//! - no secret and no digest of a secret is in it.
//!
//! Not here: making one ([`super::build()`]).

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::{Blocked, Reason, Undo, Verb};
use super::canonical::{NotCanonical, canonical_digest, canonical_digest_of};
use super::finding::{Evidence, State};
use super::judged::JudgedFields;
use super::reference::ObjectRef;
use super::tier::Tier;
use crate::world::{Cluster, ClusterIdentity, ClusterSource, RiskClass};

/// The shape of the file. Keys may be added under the same name; nothing may change meaning.
pub const PLAN_SCHEMA: &str = "trueup/plan/v1";

/// How long a plan may be applied: long enough to read it, short enough that the world is still the one it shows.
pub const PLAN_TTL: SignedDuration = SignedDuration::from_mins(15);

/// A plan as its file holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub schema: String,
    pub id: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The version of the program that made it.
    pub engine: String,
    pub targets: Vec<TargetRecord>,
    pub observations: Vec<ObservationRecord>,
    pub findings: Vec<Finding>,
    pub actions: Vec<Action>,
    pub summary: Summary,
}

/// A cluster that was judged, or an account that something would be done in for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    pub cluster: String,
    pub source: String,
    pub class: RiskClass,
    pub identity: IdentityRecord,
}

/// Which cluster or account it really was. What could not be read is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IdentityRecord {
    pub kube_system_uid: String,
    pub ca_sha256: String,
    /// The id of a cloud account, which has neither of the others. Clusters have none, and their plans don't name it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
}

impl IdentityRecord {
    /// Who a member of the fleet is, as far as that is known.
    pub fn of(member: &Cluster) -> Self {
        let ClusterIdentity { kube_system_uid, ca_sha256 } = member.identity.clone();
        match &member.source {
            ClusterSource::Cloud { account, .. } => Self::of_account(account),
            ClusterSource::Kubeconfig { .. }
            | ClusterSource::Hosted { .. }
            | ClusterSource::Snapshot
            | ClusterSource::Local => Self { kube_system_uid, ca_sha256, ..Self::default() },
        }
    }

    /// A cloud account by its id.
    pub fn of_account(id: &str) -> Self {
        Self { account: id.to_owned(), ..Self::default() }
    }

    /// Whether it says enough to tell one cluster or account from all others.
    pub fn is_known(&self) -> bool {
        let Self { kube_system_uid, ca_sha256, account } = self;
        !account.is_empty() || (!kube_system_uid.is_empty() && !ca_sha256.is_empty())
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

/// Something that would be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub id: String,
    pub finding: String,
    pub domain: String,
    pub cluster: String,
    pub verb: Verb,
    pub target: ObjectRef,
    pub preconditions: Preconditions,
    pub selected: bool,
    pub reason: Reason,
    pub ownership: Vec<String>,
    pub tier: Tier,
    pub diff: String,
    pub change: Value,
    pub undo: Undo,
    pub depends_on: Vec<String>,
    pub blocked_by: Vec<Blocked>,
}

/// What has to be true of the target, and of what is copied, when the request arrives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preconditions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// For kinds whose version moves by itself.
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

/// Why a file is no plan this program may rely on.
#[derive(Debug, thiserror::Error)]
pub enum PlanReadError {
    #[error("the plan is not JSON of the shape `{PLAN_SCHEMA}`")]
    Shape(#[from] serde_json::Error),
    #[error("the plan has the schema `{found}`, and this program reads `{PLAN_SCHEMA}`")]
    Schema { found: String },
    #[error("the plan holds a number that has no single spelling")]
    Number(#[from] NotCanonical),
    #[error("the plan was changed after it was made: it says {written}, its content is {computed}")]
    OtherId { written: String, computed: String },
}

impl Plan {
    /// Reads a plan back and makes sure that it is the one its id names.
    ///
    /// # Errors
    /// The text is no plan of this schema, or its content was changed.
    pub fn read(text: &str) -> Result<Self, PlanReadError> {
        // The id is checked over the text's own JSON, because the typed plan drops keys of newer versions.
        let json: Value = serde_json::from_str(text)?;
        let plan = Self::deserialize(&json)?;
        if plan.schema != PLAN_SCHEMA {
            return Err(PlanReadError::Schema { found: plan.schema });
        }
        let computed = id_of(json)?;
        if plan.id != computed {
            return Err(PlanReadError::OtherId { written: plan.id, computed });
        }
        Ok(plan)
    }

    /// The step each action belongs to, in the plan's order: 0 waits for nobody, every other comes after all it depends on.
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
        // Every field matters here: one that is forgotten would not be covered by the id.
        let Self { schema, id: _, created_at, expires_at, engine, targets, observations, findings, actions, summary } =
            self;
        canonical_digest_of(&Identified {
            actions,
            created_at,
            engine,
            expires_at,
            findings,
            observations,
            schema,
            summary,
            targets,
        })
    }
}

/// What a plan's id is taken over: all of it but the id. In the order of their names, so that nothing has to be moved.
#[derive(Serialize)]
struct Identified<'p> {
    actions: &'p [Action],
    created_at: &'p Timestamp,
    engine: &'p str,
    expires_at: &'p Timestamp,
    findings: &'p [Finding],
    observations: &'p [ObservationRecord],
    schema: &'p str,
    summary: &'p Summary,
    targets: &'p [TargetRecord],
}

impl Summary {
    pub fn of(findings: &[Finding], actions: &[Action]) -> Self {
        let mut summary = Self::default();
        for finding in findings {
            *summary.findings.entry(finding.state.as_str().to_owned()).or_default() += 1;
        }
        for action in actions {
            *summary.actions.entry(action.verb.as_str().to_owned()).or_default() += 1;
            summary.blocked += u64::from(!action.blocked_by.is_empty());
        }
        summary
    }
}

fn id_of(mut plan: Value) -> Result<String, NotCanonical> {
    if let Value::Object(keys) = &mut plan {
        keys.remove("id");
    }
    canonical_digest(&plan)
}

#[cfg(test)]
mod tests {
    use crate::engine::testing::{delete, finding, given};

    #[test]
    fn what_waits_for_others_comes_after_all_of_them() {
        let drafts = ["a", "b", "c", "d"].map(|name| finding(name).draft(delete("guest-a", name)));
        let plan = drafts.into_iter().fold(given(), |given, finding| given.finding(finding)).plan();
        type Waits = &'static [(usize, &'static [usize])];
        let cases: [(&str, Waits, [usize; 4]); 4] = [
            ("nobody waits", &[], [0, 0, 0, 0]),
            ("a chain against the plan's order", &[(0, &[1]), (1, &[2]), (2, &[3])], [3, 2, 1, 0]),
            ("for the later of two", &[(3, &[0, 2]), (2, &[1])], [0, 0, 1, 2]),
            ("for nobody of this plan", &[(0, &[9])], [0, 0, 0, 0]),
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
        assert_eq!(circle.steps()[2..], [0, 0], "those that wait for each other keep nobody");
    }
}
