//! What every check promises to the rest of the program.
//!
//! Invariants: everything a check says of a subject at one moment comes from one ruling ([`RuledSubject`]).
//! Elsewhere: how a check is written ([`crate::CheckRules`]).

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::outline::Outline;
use super::permissions::{OwnerMark, Permission};
use super::present::{Cell, CheckDescription, FleetTable, Panel};
use super::relations::Relations;
use super::workload::Workload;
use trueup_core::engine::{CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{Change, ChangeSet, Cluster, ClusterName, Interest, Provider, View};

/// Which judgements a change set touches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Touched {
    /// These, some of which may be gone or new.
    pub subjects: BTreeSet<SubjectId>,
    /// Every subject of these clusters: the set of subjects itself may differ there.
    pub clusters: BTreeSet<ClusterName>,
    /// The subjects of a kind in a namespace that were judged before: some of them may be gone.
    pub namespaces: BTreeSet<TouchedNamespace>,
}

/// The subjects of one kind in one namespace of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TouchedNamespace {
    pub cluster: ClusterName,
    pub api_version: &'static str,
    pub kind: &'static str,
    pub namespace: String,
}

/// What may be tested about a subject on request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    Kubeconfig(KubeconfigProbe),
    Discovery(DiscoveryProbe),
    Role(RoleProbe),
}

/// A kubeconfig in a Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeconfigProbe {
    /// The cluster the Secret is in.
    pub cluster: ClusterName,
    pub namespace: String,
    pub secret: String,
    pub key: &'static str,
    /// The name of the cluster it is the kubeconfig of.
    pub leads_to: String,
}

/// The discovery document of an OIDC provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryProbe {
    pub url: String,
    /// The issuer the document has to name.
    pub issuer: String,
    /// The only CAs that count, in PEM; without any, the system's.
    pub roots: Option<String>,
}

/// Whether a check reads the guests of HostedClusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestUse {
    Read,
    /// Where every enabled check says so, guests are not connected to.
    NotRead,
}

/// The role that a workload takes on with a token of its ServiceAccount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleProbe {
    /// The cluster the workload runs in.
    pub cluster: ClusterName,
    pub namespace: String,
    pub service_account: String,
    /// Nothing: the API server's default.
    pub audience: Option<String>,
    pub role: String,
    pub region: String,
}

/// One check.
pub trait Check: Send + Sync {
    fn name(&self) -> CheckName;

    /// How the console presents it: by its name, unless it says more.
    fn description(&self) -> CheckDescription {
        CheckDescription::named(self.name().0)
    }

    /// The cloud providers whose accounts it reads. Where no enabled check needs one, its API is not called.
    fn clouds(&self) -> &'static [Provider] {
        &[]
    }

    /// Whether it reads guests.
    fn guests(&self) -> GuestUse {
        GuestUse::Read
    }

    /// What it reads and writes, for roles.
    fn permissions(&self) -> Vec<Permission> {
        Vec::new()
    }

    /// What it takes as proof of ownership on objects that it deletes.
    fn owner_marks(&self) -> Vec<OwnerMark> {
        Vec::new()
    }

    /// The collections it needs because of one cluster, given what is known so far. They may be in other clusters.
    fn interests_of(&self, cluster: &Cluster, view: View<'_>) -> Vec<Interest>;

    /// The clusters whose interests may differ after these changes.
    fn interested(&self, changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName>;

    /// All collections it needs.
    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        view.clusters().flat_map(|cluster| self.interests_of(cluster, view)).collect()
    }

    /// Which judgements may differ after these changes.
    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched;

    /// Which judgements may differ once the deadline of one has passed.
    fn woken(&self, subject: &SubjectId, view: View<'_>) -> Touched {
        woken_with_host(subject, view)
    }

    /// The subject this one is listed under.
    fn parent(&self, _subject: &SubjectId, _view: View<'_>) -> Option<SubjectId> {
        None
    }

    /// Starts judging at one moment. Subjects that are ruled in one pass share what is looked up once per cluster.
    fn pass<'a>(&'a self, view: View<'a>) -> Box<dyn Pass + 'a>;

    /// Every subject of one cluster that gets a finding now.
    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        self.pass(view).subjects_in(cluster)
    }

    /// Every subject that gets a finding now.
    fn subjects(&self, view: View<'_>) -> BTreeSet<SubjectId> {
        let pass = self.pass(view);
        view.clusters().flat_map(|cluster| pass.subjects_in(&cluster.name)).collect()
    }

    /// The judgement of one subject, or nothing when it is not a subject (any more).
    fn judge(&self, subject: &SubjectId, view: View<'_>) -> Option<Judgement> {
        Some(self.pass(view).rule(subject)?.judgement())
    }

    fn explain(&self, subject: &SubjectId, view: View<'_>) -> Option<Explanation> {
        Some(self.pass(view).rule(subject)?.explanation())
    }

    /// Explanation and panels of an open subject, from one ruling.
    fn detail(&self, subject: &SubjectId, view: View<'_>) -> Option<(Explanation, Vec<Panel>)> {
        let pass = self.pass(view);
        let ruled = pass.rule(subject)?;
        Some((ruled.explanation(), ruled.panels()))
    }

    fn cells(&self, subject: &SubjectId, view: View<'_>) -> Vec<Cell> {
        self.pass(view).rule(subject).map_or_else(Vec::new, |ruled| ruled.cells())
    }

    fn panels(&self, subject: &SubjectId, view: View<'_>) -> Vec<Panel> {
        self.pass(view).rule(subject).map_or_else(Vec::new, |ruled| ruled.panels())
    }

    fn probe(&self, subject: &SubjectId, view: View<'_>) -> Option<Probe> {
        self.pass(view).rule(subject)?.probe()
    }

    /// How the subject's object depends on others.
    fn relations(&self, subject: &SubjectId, view: View<'_>) -> Relations {
        self.pass(view).rule(subject).map_or_else(Relations::default, |ruled| ruled.relations())
    }

    /// The operator whose log explains the subject, where one does.
    fn operator(&self, subject: &SubjectId, view: View<'_>) -> Option<Workload> {
        self.pass(view).rule(subject)?.operator()
    }

    /// A table of the whole fleet, for checks that have one. `typed` answers its question ([`FleetTable::question`]).
    fn fleet_table(&self, _view: View<'_>, _typed: Option<&str>) -> Option<FleetTable> {
        None
    }

    /// The answer to one of the check's forms, line by line.
    fn answer(&self, form: &str, typed: &str, subject: &SubjectId, view: View<'_>) -> Vec<String> {
        self.pass(view).rule(subject).map_or_else(Vec::new, |ruled| ruled.answer(form, typed))
    }
}

/// The judging of many subjects at one moment.
pub trait Pass {
    /// Every subject of one cluster that gets a finding now.
    fn subjects_in(&self, cluster: &ClusterName) -> BTreeSet<SubjectId>;

    /// Rules on a subject; nothing when it is not a subject (any more).
    fn rule<'p>(&'p self, subject: &'p SubjectId) -> Option<Box<dyn RuledSubject + 'p>>;
}

/// A subject with its ruling, from which everything else is derived.
pub trait RuledSubject {
    fn judgement(&self) -> Judgement;

    fn explanation(&self) -> Explanation;

    /// Whether its explanation has a remedy: cheaper than the explanation.
    fn has_remedy(&self) -> bool;

    /// The values of the check's own columns, in their order.
    fn cells(&self) -> Vec<Cell>;

    /// What is kept of the finding beside its judgement.
    fn outline(&self) -> Outline;

    /// When what the verdict says began, where the objects say so.
    fn began(&self) -> Option<Timestamp>;

    /// What else is shown of a subject that is open.
    fn panels(&self) -> Vec<Panel>;

    /// What may be tested on request. Nothing where that would send a credential to a server that is not known to be
    /// the right one.
    fn probe(&self) -> Option<Probe>;

    /// How its object depends on others.
    fn relations(&self) -> Relations;

    /// The operator whose log explains it, where one does.
    fn operator(&self) -> Option<Workload>;

    /// The answer to one of the check's forms, line by line.
    fn answer(&self, form: &str, typed: &str) -> Vec<String>;
}

/// The clusters that changed, and those whose subjects may differ: what a cluster's interests follow from is what its
/// judgements follow from.
pub fn interested_by_touch(touched: Touched, changes: &ChangeSet) -> BTreeSet<ClusterName> {
    changes.iter().map(Change::cluster).cloned().chain(touched.clusters).collect()
}

/// The subjects of a cluster and of the one that hosts it.
pub fn woken_with_host(subject: &SubjectId, view: View<'_>) -> Touched {
    let host = view.cluster(&subject.cluster).and_then(|cluster| cluster.hosted_by.as_ref());
    let clusters = host.map(|host| host.cluster.clone()).into_iter().chain([subject.cluster.clone()]).collect();
    Touched { clusters, ..Touched::default() }
}
