//! Builders for the tests of the engine: valid and minimal, so that a test states only what matters.
//!
//! The dull world: one live prod cluster `guest-a` whose identity is known, whose lists are complete and just confirmed,
//! where every permission is given.

#![expect(clippy::unwrap_used, reason = "builders of tests, which fail at the line of the unwrap")]

use jiff::Timestamp;
use serde_json::json;

use super::journal::Record;
use super::{
    AcceptRule, AccessAnswer, ActionDraft, Change, CheckName, Conditions, Explanation, FreshPlan, Glob, Judged,
    Judgement, MetadataChange, ObjectRef, Observed, Plan, PlanInput, PlanScope, Reason, Stake, State, SubjectId,
    Target, Undo, Unexplained, Verb, access_questions, build, build_fresh,
};
use crate::world::{
    Cluster, ClusterIdentity, ClusterName, ClusterSource, CollectionId, Completeness, Gap, GapCause, Link, Resource,
    ResourceVersion, RiskClass, Served, Uid,
};

pub const DOMAIN: CheckName = CheckName("hosted-oidc");
pub const NAMESPACE: &str = "openshift-config";
pub const SECRETS: Resource =
    Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
pub const CRDS: Resource = Resource {
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    namespaced: false,
};

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

pub fn cluster_name(name: &str) -> ClusterName {
    ClusterName::new(name)
}

pub fn glob(text: &str) -> Glob {
    Glob::parse(text).unwrap()
}

pub fn cluster(name: &str) -> Cluster {
    Cluster {
        name: cluster_name(name),
        class: RiskClass::Prod,
        source: ClusterSource::Kubeconfig { context: name.to_owned() },
        hosted_by: None,
        link: Link::Idle,
        identity: ClusterIdentity {
            kube_system_uid: "uid-of-kube-system".to_owned(),
            ca_sha256: "c0ffee".to_owned(),
            ..ClusterIdentity::default()
        },
        served: Served::Unknown(Gap::new(GapCause::NotObserved, "not asked")),
    }
}

pub fn secrets_of(cluster: &str) -> CollectionId {
    CollectionId::namespaced(&cluster_name(cluster), SECRETS, NAMESPACE)
}

pub fn subject(cluster: &str, name: &str) -> SubjectId {
    SubjectId {
        domain: DOMAIN,
        cluster: cluster_name(cluster),
        api_version: "v1",
        kind: "Secret",
        namespace: Some(NAMESPACE.to_owned()),
        name: name.to_owned(),
        cloud: None,
    }
}

/// A selected delete with two proofs that rests on the cluster's Secrets.
pub fn delete(cluster: &str, name: &str) -> ActionDraft {
    ActionDraft {
        domain: DOMAIN,
        restores: None,
        target: Target {
            cluster: cluster_name(cluster),
            resource: SECRETS,
            namespace: Some(NAMESPACE.to_owned()),
            name: name.to_owned(),
            uid: Some(Uid::parse("uid-of-it")),
            version: Some(ResourceVersion::parse("7")),
            cloud: None,
        },
        judged: None,
        source: None,
        selected: true,
        reason: Reason::NoReferrer,
        ownership: vec!["the oidc label".to_owned(), "the managed label".to_owned()],
        stake: Stake::DeleteWithBackup,
        diff: "- Secret".to_owned(),
        change: Change::Delete,
        undo: Undo::RestoreFromBackup,
        depends_on: Vec::new(),
        rests_on: vec![secrets_of(cluster)],
        blocked_by: Vec::new(),
        group: None,
        memory: None,
        managed_by: None,
    }
}

/// A selected, reversible label.
pub fn label(cluster: &str, name: &str) -> ActionDraft {
    ActionDraft {
        reason: Reason::NotLabelled,
        ownership: Vec::new(),
        stake: Stake::Reversible,
        diff: "+ label".to_owned(),
        change: Change::Label(MetadataChange { set: [("a".to_owned(), "b".to_owned())].into(), remove: Vec::new() }),
        undo: Undo::RemoveWhatWasAdded,
        rests_on: Vec::new(),
        ..delete(cluster, name)
    }
}

/// The first request of an action in `guest-a`, bound to nothing.
pub fn intent(plan: &str, action: &str, verb: Verb, target: ObjectRef, at: Timestamp) -> Record {
    Record::Intent {
        plan: plan.to_owned(),
        action: action.to_owned(),
        attempt: 1,
        cluster: "guest-a".to_owned(),
        target,
        uid: None,
        resource_version: None,
        verb,
        labels: None,
        annotations: None,
        fields: None,
        keys: Vec::new(),
        deadline: at,
        at,
    }
}

/// An extra Secret of `guest-a` with two proofs and no remedy.
pub fn finding(name: &str) -> FindingGiven {
    finding_in("guest-a", name)
}

pub fn finding_in(cluster: &str, name: &str) -> FindingGiven {
    FindingGiven(Judged {
        subject: subject(cluster, name),
        judgement: Judgement {
            state: State::Extra,
            verdict: "orphan-certain",
            codes: Vec::new(),
            ownership_proofs: 2,
            until: None,
        },
        explanation: Explanation {
            uid: Some(Uid::parse("uid-of-it")),
            created: None,
            summary: "nothing refers to it".to_owned(),
            expected: json!(null),
            actual: json!({ "clientSecret": "<40 bytes>" }),
            evidence: Vec::new(),
            remedy: Vec::new(),
        },
    })
}

pub struct FindingGiven(pub Judged);

impl FindingGiven {
    pub fn state(mut self, state: State) -> Self {
        self.0.judgement.state = state;
        self
    }

    pub fn proofs(mut self, count: u8) -> Self {
        self.0.judgement.ownership_proofs = count;
        self
    }

    pub fn draft(mut self, draft: ActionDraft) -> Self {
        self.0.explanation.remedy.push(draft);
        self
    }

    pub fn deletes(self) -> Self {
        let draft = delete(self.0.subject.cluster.as_str(), &self.0.subject.name);
        self.draft(draft)
    }
}

pub fn given() -> Given {
    let lists = ["guest-a", "guest-b"].map(|name| (secrets_of(name), complete(now())));
    Given {
        judged: Vec::new(),
        clusters: vec![cluster("guest-a")],
        observed: lists.into(),
        accepted: Vec::new(),
        scope: PlanScope::default(),
        conditions: Conditions::at(now()),
        access_unasked: false,
    }
}

pub fn complete(at: Timestamp) -> Completeness {
    Completeness::Complete { version: ResourceVersion::parse("812"), at }
}

#[derive(Debug, Clone)]
pub struct Given {
    pub judged: Vec<Judged>,
    pub clusters: Vec<Cluster>,
    pub observed: Vec<(CollectionId, Completeness)>,
    pub accepted: Vec<AcceptRule>,
    pub scope: PlanScope,
    pub conditions: Conditions,
    /// Leaves the questions about permissions unanswered.
    pub access_unasked: bool,
}

impl Given {
    pub fn finding(mut self, finding: FindingGiven) -> Self {
        self.judged.push(finding.0);
        self
    }

    pub fn findings(self, count: usize, make: impl Fn(usize) -> FindingGiven) -> Self {
        (0..count).fold(self, |given, index| given.finding(make(index)))
    }

    pub fn cluster(mut self, change: impl FnOnce(&mut Cluster)) -> Self {
        change(&mut self.clusters[0]);
        self
    }

    pub fn conditions(mut self, change: impl FnOnce(&mut Conditions)) -> Self {
        change(&mut self.conditions);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn plan(&self) -> Plan {
        self.build(|input| build(input).unwrap())
    }

    /// The plan an action is judged by again.
    pub fn fresh(&self) -> FreshPlan {
        self.build(|input| build_fresh(input).unwrap())
    }

    pub(super) fn build<T>(&self, with: impl FnOnce(&PlanInput<'_>) -> T) -> T {
        let mut conditions = self.conditions.clone();
        for draft in self.judged.iter().flat_map(|judged| &judged.explanation.remedy) {
            for question in access_questions(draft).into_iter().filter(|_| !self.access_unasked) {
                conditions.access.entry(question).or_insert(AccessAnswer::Allowed);
            }
        }
        let input = PlanInput {
            judged: &self.judged,
            unexplained: Unexplained::NONE,
            clusters: self.clusters.iter().collect(),
            observed: self.observed.iter().map(|(id, completeness)| Observed { id, completeness }).collect(),
            accepted: &self.accepted,
            scope: &self.scope,
            conditions: &conditions,
        };
        with(&input)
    }
}
