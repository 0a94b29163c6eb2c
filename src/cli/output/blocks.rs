//! The findings of a table, by the target they belong to.
//!
//! Invariants: only listed findings are made, and of those only what a line shows is held; the others are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use jiff::Timestamp;

use super::vocabulary::{accepted_note, age, place};
use super::{FindingSource, Page};
use trueup_core::engine::{Finding, State, TargetRecord};

/// The columns that only a wide table has.
pub const MORE: usize = 3;

/// What a line shows of a finding, escaped.
pub struct Line {
    pub state: State,
    pub kind: String,
    pub name: String,
    pub verdict: String,
    pub age: String,
    pub message: String,
    /// What only a wide table shows: check, codes, ids of the actions.
    pub more: [String; MORE],
    home: Home,
}

/// What a finding belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Home {
    Cluster(String),
    /// The account of a resource without a cluster.
    Account(String),
}

/// The findings of a target.
#[derive(Debug, Default, Clone)]
pub struct Block {
    /// Places among the lines, in order.
    pub listed: Vec<usize>,
    /// How many are not listed.
    pub folded: usize,
}

pub struct Blocks {
    pub lines: Vec<Line>,
    by_home: BTreeMap<Home, Block>,
}

impl Home {
    fn of(cluster: &str, account: Option<&str>) -> Self {
        match account.filter(|account| cluster.is_empty() && !account.is_empty()) {
            Some(account) => Self::Account(account.to_owned()),
            None => Self::Cluster(cluster.to_owned()),
        }
    }

    fn all_of(target: &TargetRecord) -> [Self; 2] {
        [Self::Cluster(target.cluster.clone()), Self::Account(target.identity.account.clone())]
    }
}

impl Line {
    fn of<F>(page: &Page<'_, F>, finding: &Finding, created: Option<Timestamp>) -> Self {
        let terminal = &page.terminal;
        let mut message = terminal.safe(&finding.summary);
        if let Some(note) = accepted_note(finding) {
            message = format!("{message} ({})", terminal.safe(&note));
        }
        let account = finding.subject.cloud.as_ref().map(|cloud| cloud.account.as_str());
        let listed = |words: &[String]| terminal.safe(&words.join(","));
        Self {
            more: [terminal.safe(&finding.domain), listed(&finding.codes), listed(&finding.actions)],
            state: finding.state,
            kind: terminal.safe(&finding.subject.kind),
            name: terminal.safe(&place(&finding.subject)),
            verdict: terminal.safe(&finding.verdict),
            age: created.map_or(String::new(), |at| age(at, page.now)),
            message,
            home: Home::of(&finding.cluster, account),
        }
    }
}

impl Block {
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.folded == 0
    }

    fn joined<'b>(blocks: impl Iterator<Item = &'b Self>) -> Self {
        let mut all = Self::default();
        for block in blocks {
            all.listed.extend(&block.listed);
            all.folded += block.folded;
        }
        all.listed.sort_unstable();
        all
    }
}

impl Blocks {
    pub fn of<F: FindingSource>(page: &Page<'_, F>) -> Self {
        let mut lines = Vec::new();
        let Ok(()) = page.plan.findings.each(
            |state| page.lists(state),
            |finding, created| Line::of(page, &finding, created),
            |line| {
                lines.push(line);
                Ok::<(), Infallible>(())
            },
        );
        let mut by_home: BTreeMap<Home, Block> = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            by_home.entry(line.home.clone()).or_default().listed.push(place);
        }
        for brief in page.plan.findings.brief().filter(|brief| !page.lists(brief.state)) {
            by_home.entry(Home::of(brief.cluster, brief.account)).or_default().folded += 1;
        }
        Self { lines, by_home }
    }

    pub fn of_target(&self, target: &TargetRecord) -> Block {
        Block::joined(Home::all_of(target).iter().filter_map(|home| self.by_home.get(home)))
    }

    /// The findings that belong to no target.
    pub fn elsewhere(&self, targets: &[TargetRecord]) -> Block {
        let known: BTreeSet<Home> = targets.iter().flat_map(Home::all_of).collect();
        Block::joined(self.by_home.iter().filter(|(home, _)| !known.contains(home)).map(|(_, block)| block))
    }
}
