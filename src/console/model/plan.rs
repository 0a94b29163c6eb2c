//! The open plan: included actions, dry-run results, and whether it is stale.
//!
//! Invariants:
//! - the plan itself never changes; only the selection does;
//! - an action without undo is not included until the user ticks it, except the teardown of a deleted cluster;
//! - a blocked action cannot be included, and an action whose dependency is excluded is skipped with that reason.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::accepted::ACCEPTED;
use crate::console::table::ListState;
use crate::console::task::{Planned, PlannedObject, Tried};
use trueup_checks::Relations;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{Action, Chosen, Plan, Reason, Undo, Verb};

pub struct PlanSheet {
    pub plan: Plan,
    pub left_out: Vec<String>,
    objects: BTreeMap<String, PlannedObject>,
    included: BTreeSet<String>,
    /// The selection the plan was opened with.
    proposed: BTreeSet<String>,
    /// Index of each action, by id.
    action_places: BTreeMap<String, usize>,
    /// Index of each finding, by id.
    finding_places: BTreeMap<String, usize>,
    /// Result of the selection, cached because every frame needs it.
    outcome: Outcome,
    pub tried: BTreeMap<String, Tried>,
    /// Actions in a pending dry run.
    pub trying: BTreeSet<String>,
    /// Findings that changed since the plan was made.
    pub moved: BTreeMap<String, ChangedFinding>,
    /// List order: highest tier first, dependents after their dependencies.
    order: Vec<String>,
    /// Step of each action, by id. Empty when no action depends on another.
    steps: BTreeMap<String, usize>,
    pub list: ListState<String>,
    pub show: Show,
    pub scroll: usize,
}

/// Content of the lower pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    Diff,
    Fields,
}

/// A finding that changed since the plan was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFinding {
    pub was: String,
    /// None when the finding no longer exists.
    pub is: Option<&'static str>,
}

/// Effect of a verb on an object's existence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedChange {
    Create,
    Update,
    Delete,
}

impl From<Verb> for PlannedChange {
    fn from(verb: Verb) -> Self {
        match verb {
            Verb::Create => Self::Create,
            Verb::Delete => Self::Delete,
            Verb::Apply
            | Verb::Update
            | Verb::Label
            | Verb::Annotate
            | Verb::Patch
            | Verb::Tag
            | Verb::Untag
            | Verb::ReOwn => Self::Update,
        }
    }
}

/// Why an action is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skipped {
    Excluded,
    Blocked(String),
    /// Its dependency is excluded.
    Dependency(String),
}

/// Totals of the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub create: usize,
    pub update: usize,
    pub delete: usize,
    pub blocked: usize,
    pub excluded: usize,
}

/// Result of a selection.
#[derive(Debug, Default)]
struct Outcome {
    totals: Totals,
    /// Verb planned for each finding, if it is sent.
    ghosts: BTreeMap<String, Verb>,
}

impl PlanSheet {
    pub fn new(planned: Planned) -> Self {
        let Planned { plan, left_out, objects } = planned;
        let free = |action: &&Action| action.selected && action.blocked_by.is_empty() && is_proposed(action);
        let included: BTreeSet<String> = plan.actions.iter().filter(free).map(|action| action.id.clone()).collect();
        let turns = plan.steps();
        let is_ordered = turns.iter().any(|step| *step > 0);
        let mut rows: Vec<(&Action, usize)> = plan.actions.iter().zip(turns).collect();
        rows.sort_by_key(|(action, step)| {
            (!action.blocked_by.is_empty(), std::cmp::Reverse(action.tier), action.cluster.clone(), *step)
        });
        let order = rows.iter().map(|(action, _)| action.id.clone()).collect();
        let steps = rows.iter().filter(|_| is_ordered).map(|(action, step)| (action.id.clone(), *step)).collect();
        let action_places = plan.actions.iter().map(|action| action.id.clone()).zip(0..).collect();
        let finding_places = plan.findings.iter().map(|finding| finding.id.clone()).zip(0..).collect();
        let mut sheet = Self {
            plan,
            left_out,
            objects,
            proposed: included.clone(),
            included,
            action_places,
            finding_places,
            outcome: Outcome::default(),
            tried: BTreeMap::new(),
            trying: BTreeSet::new(),
            moved: BTreeMap::new(),
            order,
            steps,
            list: ListState::default(),
            show: Show::Diff,
            scroll: 0,
        };
        sheet.outcome = sheet.weigh();
        sheet
    }

    /// When the object of an action was created, where it is known.
    pub fn created(&self, id: &str) -> Option<Timestamp> {
        self.objects.get(id)?.created
    }

    /// What refers to the object of an action, where its check says so.
    pub fn relations(&self, id: &str) -> Option<&Relations> {
        Some(&self.objects.get(id)?.relations)
    }

    /// Whether ticks or results of dry runs would be lost with the plan.
    pub fn has_changes(&self) -> bool {
        self.included != self.proposed || !self.tried.is_empty() || !self.trying.is_empty()
    }

    /// Number of actions without undo that are not ticked, and could be.
    pub fn permanent_left_out(&self) -> usize {
        let is_left = |action: &&Action| {
            action.undo == Undo::None && action.blocked_by.is_empty() && !self.included.contains(&action.id)
        };
        self.plan.actions.iter().filter(is_left).count()
    }

    /// Number of ticked actions that tear down a cluster which is being deleted, and cannot be undone.
    pub fn teardown(&self) -> usize {
        self.plan.actions.iter().filter(|action| is_teardown(action) && self.included.contains(&action.id)).count()
    }

    pub fn order(&self) -> &[String] {
        &self.order
    }

    /// Whether some actions depend on others.
    pub fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Step of an action, counted from 1.
    pub fn step(&self, id: &str) -> Option<usize> {
        self.steps.get(id).map(|step| step + 1)
    }

    pub fn action(&self, id: &str) -> Option<&Action> {
        self.action_places.get(id).map(|place| &self.plan.actions[*place])
    }

    pub fn cursor(&self) -> Option<&Action> {
        self.action(self.list.cursor()?)
    }

    pub fn settle(&mut self, height: usize) {
        self.list.apply(self.order.as_slice(), height);
    }

    /// The list state and its rows.
    pub fn list_and_rows(&mut self) -> (&mut ListState<String>, &[String]) {
        (&mut self.list, &self.order)
    }

    /// Why an action is not sent; none when it is.
    pub fn skipped(&self, action: &Action) -> Option<Skipped> {
        if let Some(blocked) = action.blocked_by.first() {
            return Some(Skipped::Blocked(format!("{}: {}", blocked.gate.as_str(), blocked.why)));
        }
        if !self.included.contains(&action.id) {
            return Some(Skipped::Excluded);
        }
        let unmet = |id: &&String| self.action(id).is_none_or(|other| self.skipped(other).is_some());
        action.depends_on.iter().find(unmet).map(|id| Skipped::Dependency(id.clone()))
    }

    /// Includes or excludes an action. A blocked action stays excluded, and the reason is returned.
    ///
    /// # Errors
    /// The action is blocked.
    pub fn toggle(&mut self, id: &str) -> Result<(), String> {
        let Some(action) = self.action(id) else { return Ok(()) };
        if let Some(blocked) = action.blocked_by.first() {
            return Err(format!("{}: {}", blocked.gate.as_str(), blocked.why));
        }
        if !self.included.remove(id) {
            self.included.insert(id.to_owned());
        }
        self.outcome = self.weigh();
        Ok(())
    }

    /// The actions to send.
    pub fn chosen(&self) -> Chosen {
        let sent = |action: &&Action| self.skipped(action).is_none();
        Chosen::Only(self.plan.actions.iter().filter(sent).map(|action| action.id.clone()).collect())
    }

    pub fn totals(&self) -> Totals {
        self.outcome.totals
    }

    /// Records the current judgement of a finding. The plan is unchanged; it only becomes stale.
    pub fn revalidate(&mut self, finding: &str, held: Option<&CurrentJudgement>) {
        let Some(planned) = self.finding_places.get(finding).map(|place| &self.plan.findings[*place]) else { return };
        // A finding accepted since then must not be fixed, whatever its verdict.
        let accepted = held.is_some_and(|held| held.judgement.codes.contains(&ACCEPTED));
        let is = match (accepted, planned.accepted.is_some()) {
            (true, false) => Some(ACCEPTED),
            (true, true) | (false, true | false) => held.map(|held| held.judgement.verdict),
        };
        if is == Some(planned.verdict.as_str()) {
            self.moved.remove(finding);
        } else {
            self.moved.insert(finding.to_owned(), ChangedFinding { was: planned.verdict.clone(), is });
        }
    }

    /// The verb planned for a finding, if it is sent.
    pub fn ghost(&self, finding: &str) -> Option<Verb> {
        self.outcome.ghosts.get(finding).copied()
    }

    fn weigh(&self) -> Outcome {
        let Outcome { mut totals, mut ghosts } = Outcome::default();
        for action in &self.plan.actions {
            match self.skipped(action) {
                Some(Skipped::Blocked(_)) => totals.blocked += 1,
                Some(Skipped::Excluded | Skipped::Dependency(_)) => totals.excluded += 1,
                None => {
                    totals.count(action.verb());
                    let ghost = ghosts.entry(action.finding().unwrap_or_default().to_owned()).or_insert(action.verb());
                    if action.verb() == Verb::Delete {
                        *ghost = Verb::Delete;
                    }
                }
            }
        }
        Outcome { totals, ghosts }
    }
}

/// Whether a plan proposes an action: one without undo only for the teardown of a cluster that is being deleted.
fn is_proposed(action: &Action) -> bool {
    action.undo != Undo::None || is_teardown(action)
}

/// Whether an action tears down a cluster that is being deleted, and cannot be undone.
pub fn is_teardown(action: &Action) -> bool {
    action.undo == Undo::None && action.reason == Reason::ClusterDeleted
}

impl Totals {
    /// Number of actions to send.
    pub fn sent(&self) -> usize {
        self.create + self.update + self.delete
    }

    fn count(&mut self, verb: Verb) {
        match PlannedChange::from(verb) {
            PlannedChange::Create => self.create += 1,
            PlannedChange::Update => self.update += 1,
            PlannedChange::Delete => self.delete += 1,
        }
    }
}
