//! What every check promises.

use std::collections::BTreeSet;

use super::present::{Cell, CheckDescription, Panel};
use trueup_core::engine::{CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, Interest, Provider, View};

/// Which judgements a change set touches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Touched {
    /// These, some of which may be gone or new.
    pub subjects: BTreeSet<SubjectId>,
    /// Every subject of these clusters: the set of subjects itself may differ there.
    pub clusters: BTreeSet<ClusterName>,
}

/// What may be tried about a subject when somebody asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    Kubeconfig(KubeconfigProbe),
    Discovery(DiscoveryProbe),
}

/// A kubeconfig that lies in a Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeconfigProbe {
    /// The cluster the Secret is in.
    pub cluster: ClusterName,
    pub namespace: String,
    pub secret: String,
    pub key: &'static str,
}

/// The discovery document of an OIDC provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryProbe {
    pub url: String,
    /// What the document has to call its issuer.
    pub issuer: String,
    /// The only CAs that count, in PEM; without any, the system's.
    pub roots: Option<String>,
}

/// One check.
pub trait Check: Send + Sync {
    fn name(&self) -> CheckName;

    /// How the console introduces it: by its name, unless it says more.
    fn description(&self) -> CheckDescription {
        CheckDescription::named(self.name().0)
    }

    /// The cloud providers whose accounts it reads. Where no enabled check needs one, its API is not called.
    fn clouds(&self) -> &'static [Provider] {
        &[]
    }

    /// What it wants to see, given what is known so far. Called again whenever that changes, until it settles.
    fn interests(&self, view: View<'_>) -> Vec<Interest>;

    /// Every subject of one cluster that gets a finding now.
    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId>;

    /// Every subject that gets a finding now.
    fn subjects(&self, view: View<'_>) -> BTreeSet<SubjectId> {
        view.clusters().flat_map(|cluster| self.subjects_in(&cluster.name, view)).collect()
    }

    /// Which judgements may differ after these changes.
    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched;

    /// Which judgements may differ when the time of one has come: those of its cluster and of the one that hosts it, unless
    /// the check knows better.
    fn woken(&self, subject: &SubjectId, view: View<'_>) -> Touched {
        let host = view.cluster(&subject.cluster).and_then(|cluster| cluster.hosted_by.as_ref());
        let clusters = host.map(|host| host.cluster.clone()).into_iter().chain([subject.cluster.clone()]).collect();
        Touched { subjects: BTreeSet::new(), clusters }
    }

    /// The short answer for one subject, or nothing when it is no subject (any more).
    fn judge(&self, subject: &SubjectId, view: View<'_>) -> Option<Judgement>;

    /// The long answer for one subject.
    fn explain(&self, subject: &SubjectId, view: View<'_>) -> Option<Explanation>;

    /// [`Self::judge`] for each of many. A check may look up once what several of them share.
    fn judge_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Judgement>> {
        subjects.iter().map(|subject| self.judge(subject, view)).collect()
    }

    /// [`Self::explain`] for each of many. A check may look up once what several of them share.
    fn explain_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Explanation>> {
        subjects.iter().map(|subject| self.explain(subject, view)).collect()
    }

    /// What stands in the check's own columns for a subject, in their order. Asked whenever the subject is judged.
    fn cells(&self, _subject: &SubjectId, _view: View<'_>) -> Vec<Cell> {
        Vec::new()
    }

    /// [`Self::cells`] for each of many. A check may look up once what several of them share.
    fn cells_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Vec<Cell>> {
        subjects.iter().map(|subject| self.cells(subject, view)).collect()
    }

    /// The subject this one hangs under in the list.
    fn parent(&self, _subject: &SubjectId, _view: View<'_>) -> Option<SubjectId> {
        None
    }

    /// What else there is to see of a subject that is looked at.
    fn panels(&self, _subject: &SubjectId, _view: View<'_>) -> Vec<Panel> {
        Vec::new()
    }

    /// What may be tried for a subject when somebody asks for it. Nothing where that would send a login to a server that
    /// is not known to be the right one.
    fn probe(&self, _subject: &SubjectId, _view: View<'_>) -> Option<Probe> {
        None
    }

    /// The answer to one of the check's forms, line by line.
    fn answer(&self, _form: &str, _typed: &str, _subject: &SubjectId, _view: View<'_>) -> Vec<String> {
        Vec::new()
    }
}
