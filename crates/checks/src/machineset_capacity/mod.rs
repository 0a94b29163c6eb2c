//! Sets of machines: whether autoscalers know what a machine of each would have.
//!
//! A set that has no machines is scaled up only when its annotations say what a node would be like: CPUs, memory, GPUs,
//! architecture. They follow from the instance type, which AWS knows; the way there goes through a login that is easy to
//! get almost right. Every step of that way has its own verdict, so that a refused token is not called an unknown type.
//!
//! Elsewhere: asking AWS (`fleet::account`), writing (`engine`).

mod annotator;
mod catalogue;
mod compare;
mod context;
mod credentials;
mod expected;
mod explain;
mod facts;
mod interests;
mod judge;
mod labels;
mod login_chain;
mod machine;
mod messages;
mod names;
mod outline;
mod permissions;
mod present;
mod probe;
mod process_environment;
mod quantity;
mod region;
mod remedy;
mod ruling;
mod settings;
mod sides;
mod subjects;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod to_fix;
mod touched;
mod upstream;
mod verdict;

use std::collections::BTreeSet;

use context::{CheckContext, FleetCatalogue};
pub use probe::apply_refusal;
use ruling::Ruling;
pub use settings::{ENTRY, Settings, Workload};
use subjects::ResolvedSubject;

use crate::contract::{Probe, Touched};
use crate::evidence::incomplete;
use crate::outline::Outline;
use crate::permissions::Permission;
use crate::present::{Cell, CheckDescription, Panel};
use crate::rules::{CheckRules, ContextCache, Ruled};
use trueup_core::engine::{ActionDraft, CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, Interest, Provider, View};

pub const NAME: CheckName = CheckName("machineset-capacity");

/// The check.
#[derive(Debug, Clone, Default)]
pub struct MachineSetCapacity {
    settings: Settings,
}

impl MachineSetCapacity {
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }
}

impl CheckRules for MachineSetCapacity {
    type Fleet<'a> = FleetCatalogue<'a>;
    type Context<'a> = CheckContext<'a>;
    type Subject<'a> = ResolvedSubject<'a>;
    type Ruling<'a> = Ruling<'a>;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = present::DESCRIPTION;
    const CLOUDS: &'static [Provider] = &[Provider::Aws];

    fn permissions(&self) -> Vec<Permission> {
        permissions::permissions()
    }

    fn interests_of(&self, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
        interests::of(cluster, view, &self.settings)
    }

    fn interested(&self, changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName> {
        interests::interested(touched::find(changes, view), changes)
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    fn fleet<'a>(&'a self, view: View<'a>) -> FleetCatalogue<'a> {
        FleetCatalogue::new(view, &self.settings)
    }

    fn context<'a>(
        &'a self,
        cluster: &ClusterName,
        _: View<'a>,
        fleet: &FleetCatalogue<'a>,
    ) -> Option<CheckContext<'a>> {
        fleet.context(cluster)
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        contexts.of(cluster).map_or_else(BTreeSet::new, |context| subjects::list(&context))
    }

    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<ResolvedSubject<'a>> {
        ResolvedSubject::of(id, contexts)
    }

    fn rule<'a>(
        &'a self,
        _: &SubjectId,
        subject: &ResolvedSubject<'a>,
        contexts: &ContextCache<'a, Self>,
    ) -> Option<Ruling<'a>> {
        Some(match subject {
            ResolvedSubject::Pool(subject) => judge::rule(subject, &contexts.fleet),
            ResolvedSubject::Collection { gap, .. } => Ruling::of_collection(gap.clone()),
        })
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let (verdict, codes) = (ruled.ruling.verdict, ruled.ruling.codes());
        Judgement { state: verdict.state(), verdict: verdict.as_str(), codes, ownership_proofs: 0, until: None }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        match &ruled.subject {
            ResolvedSubject::Pool(subject) => explain::explain(subject, &ruled.ruling),
            ResolvedSubject::Collection { resource, gap } => {
                incomplete("machine sets", ruled.id.cluster.as_str(), resource, gap)
            }
        }
    }

    fn remedy(ruled: &Ruled<'_, '_, Self>) -> Vec<ActionDraft> {
        match &ruled.subject {
            ResolvedSubject::Pool(subject) => remedy::actions(subject, &ruled.ruling),
            ResolvedSubject::Collection { .. } => Vec::new(),
        }
    }

    fn cells(ruled: &Ruled<'_, '_, Self>) -> Vec<Cell> {
        match &ruled.subject {
            ResolvedSubject::Pool(_) => present::cells(&ruled.ruling),
            ResolvedSubject::Collection { .. } => Vec::new(),
        }
    }

    fn outline(ruled: &Ruled<'_, '_, Self>) -> Outline {
        outline::of(&ruled.id.cluster, &ruled.ruling)
    }

    fn probe(ruled: &Ruled<'_, '_, Self>) -> Option<Probe> {
        match &ruled.subject {
            ResolvedSubject::Pool(subject) => probe::find(subject, &ruled.ruling),
            ResolvedSubject::Collection { .. } => None,
        }
    }

    fn operator(ruled: &Ruled<'_, '_, Self>) -> Option<crate::Workload> {
        let ResolvedSubject::Pool(subject) = &ruled.subject else { return None };
        let found = subject.context.environment(subject.sort).annotator.as_ref()?;
        Some(crate::Workload::new(&subject.context.cluster.name, &found.namespace, &found.deployment))
    }

    fn panels(ruled: &Ruled<'_, '_, Self>) -> Vec<Panel> {
        match &ruled.subject {
            ResolvedSubject::Pool(subject) => present::panels(subject, &ruled.ruling),
            ResolvedSubject::Collection { .. } => Vec::new(),
        }
    }
}
