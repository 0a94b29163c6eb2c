//! A plan on the screen: what is chosen of it, what servers said to it, and whether the world is still the one it shows.
//!
//! Always true:
//! - the plan itself never changes; only what is chosen of it does;
//! - a blocked action can't be chosen, and one whose dependency is not chosen is skipped and says so.

use std::collections::{BTreeMap, BTreeSet};

use super::accepted::ACCEPTED;
use crate::console::table::ListState;
use crate::console::task::Tried;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{Action, Chosen, Plan, Verb};

pub struct PlanSheet {
    pub plan: Plan,
    pub left_out: Vec<String>,
    included: BTreeSet<String>,
    /// Where each action is in the plan, by its id.
    action_places: BTreeMap<String, usize>,
    /// Where each finding is in the plan, by its id.
    finding_places: BTreeMap<String, usize>,
    /// What follows from the choice. Made anew when that changes: it is asked for on every frame.
    outcome: Outcome,
    pub tried: BTreeMap<String, Tried>,
    /// Actions the servers are asked about.
    pub trying: BTreeSet<String>,
    /// What became different since, by finding.
    pub moved: BTreeMap<String, Moved>,
    /// In the order of the list: the riskiest first, and what waits for others after them.
    order: Vec<String>,
    /// When an action's turn comes, by its id. Empty when none waits for another.
    steps: BTreeMap<String, usize>,
    pub list: ListState<String>,
    pub show: Show,
    pub scroll: usize,
}

/// What the lower half shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    Diff,
    Fields,
}

/// A finding that is no longer what the plan says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub was: String,
    /// Nothing when there is no finding any more.
    pub is: Option<&'static str>,
}

/// Why an action would not be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skipped {
    Excluded,
    Blocked(String),
    /// What it depends on is not chosen.
    Dependency(String),
}

/// What is chosen, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub create: usize,
    pub update: usize,
    pub delete: usize,
    pub blocked: usize,
    pub excluded: usize,
}

/// What follows from a choice.
#[derive(Debug, Default)]
struct Outcome {
    totals: Totals,
    /// The verb planned for each finding, while it would be sent.
    ghosts: BTreeMap<String, Verb>,
}

impl PlanSheet {
    pub fn new(plan: Plan, left_out: Vec<String>) -> Self {
        let free = |action: &&Action| action.selected && action.blocked_by.is_empty();
        let included = plan.actions.iter().filter(free).map(|action| action.id.clone()).collect();
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

    pub fn order(&self) -> &[String] {
        &self.order
    }

    /// Whether some actions wait for others.
    pub fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// When an action's turn comes, from 1.
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

    /// The list to move in, and its rows.
    pub fn list_and_rows(&mut self) -> (&mut ListState<String>, &[String]) {
        (&mut self.list, &self.order)
    }

    /// Why an action would not be sent; nothing when it would.
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

    /// Takes an action in or out. A blocked one stays out, and the reason is the answer.
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

    /// What would be sent.
    pub fn chosen(&self) -> Chosen {
        let sent = |action: &&Action| self.skipped(action).is_none();
        Chosen::Only(self.plan.actions.iter().filter(sent).map(|action| action.id.clone()).collect())
    }

    pub fn totals(&self) -> Totals {
        self.outcome.totals
    }

    /// Notes what a finding of the plan is now. The plan stays as it is; it only knows that it is out of date.
    pub fn revalidate(&mut self, finding: &str, held: Option<&CurrentJudgement>) {
        let Some(planned) = self.finding_places.get(finding).map(|place| &self.plan.findings[*place]) else { return };
        // What was accepted since is not to be repaired, whatever its verdict.
        let accepted = held.is_some_and(|held| held.judgement.codes.contains(&ACCEPTED));
        let is = match (accepted, planned.accepted.is_some()) {
            (true, false) => Some(ACCEPTED),
            (true, true) | (false, true | false) => held.map(|held| held.judgement.verdict),
        };
        if is == Some(planned.verdict.as_str()) {
            self.moved.remove(finding);
        } else {
            self.moved.insert(finding.to_owned(), Moved { was: planned.verdict.clone(), is });
        }
    }

    /// The verb planned for a finding, while it would be sent.
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

impl Totals {
    fn count(&mut self, verb: Verb) {
        match verb {
            Verb::Create => self.create += 1,
            Verb::Delete => self.delete += 1,
            Verb::Apply
            | Verb::Update
            | Verb::Label
            | Verb::Annotate
            | Verb::Patch
            | Verb::Tag
            | Verb::Untag
            | Verb::ReOwn => self.update += 1,
        }
    }
}
