//! How a check is written: what one cluster's judgements share, one ruling per subject, and answers from that ruling.
//!
//! Invariants:
//! - a context is built once per cluster and pass;
//! - judgement, cells, explanation, panels and probe of a subject all take the same ruling.
//!
//! Elsewhere: what the rest of the program sees of a check ([`Check`]).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use jiff::Timestamp;

use crate::contract::{Check, GuestUse, Pass, Probe, RuledSubject, Touched, interested_by_touch, woken_with_host};
use crate::evidence::advise;
use crate::managed_elsewhere;
use crate::outline::Outline;
use crate::permissions::{OwnerMark, Permission};
use crate::present::{Cell, CheckDescription, FleetTable, Panel};
use crate::relations::{self, Relations};
use crate::workload::Workload;
use trueup_core::engine::{ActionDraft, CheckName, Explanation, Judgement, State, SubjectId};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, Interest, Provider, View};

/// One check, as it is written. Each is a [`Check`].
pub trait CheckRules: Send + Sync + Sized {
    /// What the judgements of all clusters share.
    type Fleet<'a>
    where
        Self: 'a;
    /// What the judgements of one cluster share.
    type Context<'a>
    where
        Self: 'a;
    /// A subject with the objects it is about.
    type Subject<'a>
    where
        Self: 'a;
    /// Verdict, codes, and what they rest on.
    type Ruling<'a>
    where
        Self: 'a;

    const NAME: CheckName;
    const DESCRIPTION: CheckDescription;

    /// The cloud providers whose accounts it reads.
    const CLOUDS: &'static [Provider] = &[];

    /// Whether it reads guests.
    const GUESTS: GuestUse = GuestUse::Read;

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

    /// The clusters whose interests may differ after these changes: those that changed, and those whose subjects may differ.
    fn interested(&self, changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName> {
        interested_by_touch(self.touched(changes, view), changes)
    }

    /// Which judgements may differ after these changes.
    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched;

    /// Which judgements may differ once the deadline of one has passed: those of its cluster and of the one that hosts
    /// it, unless the check narrows it down.
    fn woken(&self, subject: &SubjectId, view: View<'_>) -> Touched {
        woken_with_host(subject, view)
    }

    /// The subject this one is listed under.
    fn parent(&self, _subject: &SubjectId, _view: View<'_>) -> Option<SubjectId> {
        None
    }

    /// A table of the whole fleet, for checks that have one. `typed` answers its question ([`FleetTable::question`]).
    fn fleet_table(&self, _view: View<'_>, _typed: Option<&str>) -> Option<FleetTable> {
        None
    }

    fn fleet<'a>(&'a self, view: View<'a>) -> Self::Fleet<'a>;

    /// Nothing where the check does not apply to the cluster.
    fn context<'a>(
        &'a self,
        cluster: &ClusterName,
        view: View<'a>,
        fleet: &Self::Fleet<'a>,
    ) -> Option<Self::Context<'a>>;

    /// Every subject of one cluster that gets a finding now.
    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId>;

    /// The subject, or nothing when it is not one (any more).
    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<Self::Subject<'a>>;

    /// The one ruling on a subject; nothing when it turns out not to be one.
    fn rule<'a>(
        &'a self,
        id: &SubjectId,
        subject: &Self::Subject<'a>,
        contexts: &ContextCache<'a, Self>,
    ) -> Option<Self::Ruling<'a>>;

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement;

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation;

    /// The remedy of the explanation. A check that can derive it alone does so: it is asked for every subject of a fleet.
    fn remedy(ruled: &Ruled<'_, '_, Self>) -> Vec<ActionDraft> {
        Self::explanation(ruled).remedy
    }

    fn cells(_ruled: &Ruled<'_, '_, Self>) -> Vec<Cell> {
        Vec::new()
    }

    /// What is kept of every finding: asked for often, so it does not build the explanation.
    fn outline(_ruled: &Ruled<'_, '_, Self>) -> Outline {
        Outline::default()
    }

    /// When what the verdict says began, where the objects say so: a condition's lastTransitionTime, an expiry. Where they
    /// do not, the last write of what the finding follows from counts.
    fn began(_ruled: &Ruled<'_, '_, Self>) -> Option<Timestamp> {
        None
    }

    fn panels(_ruled: &Ruled<'_, '_, Self>) -> Vec<Panel> {
        Vec::new()
    }

    fn probe(_ruled: &Ruled<'_, '_, Self>) -> Option<Probe> {
        None
    }

    /// A check without a chain of its own names the objects of its evidence.
    fn relations(ruled: &Ruled<'_, '_, Self>) -> Relations {
        relations::of_evidence(ruled.id, &Self::explanation(ruled).evidence, ruled.contexts.view)
    }

    fn operator(_ruled: &Ruled<'_, '_, Self>) -> Option<Workload> {
        None
    }

    fn answer(_ruled: &Ruled<'_, '_, Self>, _form: &str, _typed: &str) -> Vec<String> {
        Vec::new()
    }
}

/// The context of one cluster; nothing where the check does not apply to it.
type LastContext<T> = (ClusterName, Option<Rc<T>>);

/// The contexts of one pass, each built once.
pub struct ContextCache<'a, C: CheckRules + 'a> {
    pub check: &'a C,
    pub view: View<'a>,
    pub fleet: C::Fleet<'a>,
    /// Subjects are sorted by cluster, so the last one is needed again and again.
    last: RefCell<Option<LastContext<C::Context<'a>>>>,
}

impl<'a, C: CheckRules> ContextCache<'a, C> {
    pub fn new(check: &'a C, view: View<'a>) -> Self {
        Self { check, view, fleet: check.fleet(view), last: RefCell::new(None) }
    }

    /// Nothing where the check does not apply to the cluster.
    pub fn of(&self, cluster: &ClusterName) -> Option<Rc<C::Context<'a>>> {
        if let Some((held, context)) = &*self.last.borrow()
            && held == cluster
        {
            return context.clone();
        }
        let context = self.check.context(cluster, self.view, &self.fleet).map(Rc::new);
        *self.last.borrow_mut() = Some((cluster.clone(), context.clone()));
        context
    }
}

/// One subject with its ruling.
pub struct Ruled<'p, 'a, C: CheckRules + 'a> {
    pub id: &'p SubjectId,
    pub contexts: &'p ContextCache<'a, C>,
    pub subject: C::Subject<'a>,
    pub ruling: C::Ruling<'a>,
}

impl<'a, C: CheckRules> Pass for ContextCache<'a, C> {
    fn subjects_in(&self, cluster: &ClusterName) -> BTreeSet<SubjectId> {
        self.check.subjects_in(cluster, self)
    }

    fn rule<'p>(&'p self, id: &'p SubjectId) -> Option<Box<dyn RuledSubject + 'p>> {
        let subject = self.check.resolve(id, self)?;
        let ruling = self.check.rule(id, &subject, self)?;
        Some(Box::new(Ruled { id, contexts: self, subject, ruling }))
    }
}

impl<C: CheckRules> RuledSubject for Ruled<'_, '_, C> {
    fn judgement(&self) -> Judgement {
        let mut judgement = C::judgement(self);
        if managed_elsewhere::of_subject(self.id, self.contexts.view).is_some() {
            judgement.add_code(managed_elsewhere::CODE);
        }
        judgement
    }

    fn explanation(&self) -> Explanation {
        let mut explanation = C::explanation(self);
        if C::judgement(self).state != State::Match {
            advise(&mut explanation);
        }
        managed_elsewhere::explain(&mut explanation, self.id, self.contexts.view);
        explanation
    }

    fn has_remedy(&self) -> bool {
        !C::remedy(self).is_empty()
    }

    fn cells(&self) -> Vec<Cell> {
        C::cells(self)
    }

    fn outline(&self) -> Outline {
        C::outline(self)
    }

    fn began(&self) -> Option<Timestamp> {
        C::began(self)
    }

    fn panels(&self) -> Vec<Panel> {
        C::panels(self)
    }

    fn probe(&self) -> Option<Probe> {
        C::probe(self)
    }

    fn relations(&self) -> Relations {
        C::relations(self)
    }

    fn operator(&self) -> Option<Workload> {
        C::operator(self)
    }

    fn answer(&self, form: &str, typed: &str) -> Vec<String> {
        C::answer(self, form, typed)
    }
}

impl<C: CheckRules> Check for C {
    fn name(&self) -> CheckName {
        C::NAME
    }

    fn description(&self) -> CheckDescription {
        C::DESCRIPTION
    }

    fn clouds(&self) -> &'static [Provider] {
        C::CLOUDS
    }

    fn guests(&self) -> GuestUse {
        C::GUESTS
    }

    fn permissions(&self) -> Vec<Permission> {
        CheckRules::permissions(self)
    }

    fn owner_marks(&self) -> Vec<OwnerMark> {
        CheckRules::owner_marks(self)
    }

    fn interests_of(&self, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
        CheckRules::interests_of(self, cluster, view)
    }

    fn interested(&self, changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName> {
        CheckRules::interested(self, changes, view)
    }

    fn fleet_table(&self, view: View<'_>, typed: Option<&str>) -> Option<FleetTable> {
        CheckRules::fleet_table(self, view, typed)
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        CheckRules::touched(self, changes, view)
    }

    fn woken(&self, subject: &SubjectId, view: View<'_>) -> Touched {
        CheckRules::woken(self, subject, view)
    }

    fn parent(&self, subject: &SubjectId, view: View<'_>) -> Option<SubjectId> {
        CheckRules::parent(self, subject, view)
    }

    fn pass<'a>(&'a self, view: View<'a>) -> Box<dyn Pass + 'a> {
        Box::new(ContextCache::new(self, view))
    }
}
