//! The plan as a table, one block per cluster.
//!
//! Invariants: no line is wider than the terminal; nothing is cut in a pipe or file.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::blocks::{Block, Blocks, Line, MORE};
use super::text::{padded, right, width, without_end, without_middle, wrapped};
use super::vocabulary::{age, count, place, state_mark};
use super::{FindingSource, Page};
use crate::cli::terminal::Style;
use trueup_core::engine::{Action, Plan, State, TargetRecord, TargetSource, short_id};

/// Minimum width of a name.
const NAME_WIDTH_MIN: usize = 16;
/// Minimum width of the summary before names are cut.
const SUMMARY_WIDTH_MIN: usize = 24;
/// The longest word for a state is `missing` or `unknown`.
const STATE_WIDTH: usize = 7;
/// Indent of continuation lines: below the kind or tier.
const BELOW_INDENT: usize = 9;
/// The longest verb is `annotate`.
const VERB_WIDTH: usize = 8;

/// How much of each finding and action is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Usual,
    /// Also check, codes and actions of findings; uid, group and dependencies of actions.
    Wide,
}

/// Renders the table.
pub fn table<F: FindingSource>(page: &Page<'_, F>, detail: Detail) -> String {
    let plan = page.plan;
    let mut lines = vec![title(page), String::new()];
    let blocks = Blocks::of(page);
    let columns = Columns::of(page, &blocks.lines, detail);
    let (actions, knowledge) = (actions_of(plan), Knowledge::by_cluster(plan));
    let mut silent = 0;
    for target in &plan.targets {
        let own = blocks.of_target(target);
        let actions = actions.get(target.cluster.as_str()).map_or(&[][..], Vec::as_slice);
        if own.is_empty() && actions.is_empty() {
            silent += 1;
            continue;
        }
        let name = page.terminal.paint(&page.terminal.safe(&target.cluster), Style::Title);
        let known = knowledge.get(target.cluster.as_str()).map_or(String::new(), |known| known.text(page, target));
        lines.push(format!("{name}  {}  {}{known}", target.class.as_str(), target.source.as_str()));
        lines.extend(findings(page, &blocks.lines, &own, &columns));
        lines.extend(actions_below(page, actions, detail));
        lines.push(String::new());
    }
    let elsewhere = blocks.elsewhere(&plan.targets);
    if !elsewhere.is_empty() {
        lines.push(page.terminal.paint("(no cluster)", Style::Title));
        lines.extend(findings(page, &blocks.lines, &elsewhere, &columns));
        let named: BTreeSet<&str> = plan.targets.iter().map(|target| target.cluster.as_str()).collect();
        let is_elsewhere = |action: &&Action| !named.contains(action.cluster.as_str());
        let mut actions: Vec<&Action> = plan.actions.iter().filter(is_elsewhere).collect();
        actions.sort_by(|one, other| one.finding().cmp(&other.finding()));
        lines.extend(actions_below(page, &actions, detail));
        lines.push(String::new());
    }
    lines.push(totals(page, silent));
    lines.join("\n") + "\n"
}

/// The actions of each cluster, in the order of their findings.
fn actions_of<F>(plan: &Plan<F>) -> BTreeMap<&str, Vec<&Action>> {
    let mut all: BTreeMap<&str, Vec<&Action>> = BTreeMap::new();
    for action in &plan.actions {
        all.entry(action.cluster.as_str()).or_default().push(action);
    }
    all.values_mut().for_each(|actions| actions.sort_by(|one, other| one.finding().cmp(&other.finding())));
    all
}

fn actions_below<F>(page: &Page<'_, F>, actions: &[&Action], detail: Detail) -> Vec<String> {
    let mut lines: Vec<String> = actions.iter().flat_map(|action| action_lines(page, action, detail)).collect();
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn title<F>(page: &Page<'_, F>) -> String {
    let plan = page.plan;
    let name = page.terminal.paint(&format!("plan {}", short_id(&plan.id)), Style::Title);
    format!("{name}  made {}, valid until {}", page.time(plan.created_at), page.clock(plan.expires_at))
}

/// How well the collections of a cluster are known.
#[derive(Default)]
struct Knowledge {
    collections: usize,
    gaps: usize,
    oldest: Option<Timestamp>,
}

impl Knowledge {
    fn by_cluster<F>(plan: &Plan<F>) -> BTreeMap<&str, Self> {
        let mut all: BTreeMap<&str, Self> = BTreeMap::new();
        for seen in &plan.observations {
            let known = all.entry(seen.cluster.as_str()).or_default();
            let collections = 1 + seen.more;
            known.collections += collections;
            known.gaps += if seen.state == "complete" { 0 } else { collections };
            known.oldest = known.oldest.into_iter().chain(seen.at).min();
        }
        all
    }

    /// Age of the oldest list, and the number of incomplete ones. A recording has no age.
    fn text<F>(&self, page: &Page<'_, F>, target: &TargetRecord) -> String {
        let oldest = self.oldest.filter(|_| target.source != TargetSource::Snapshot);
        let known = oldest.map_or(String::new(), |at| format!("  as of {} ago", age(at, page.now)));
        match self.gaps {
            0 => known,
            gaps => format!("{known}  {gaps} of {} not complete", count(self.collections, "collection")),
        }
    }
}

/// Column widths, the same for every block.
struct Columns {
    kind: usize,
    name: usize,
    verdict: usize,
    age: usize,
    /// In a wide table.
    more: Option<[usize; MORE]>,
    summary: SummaryPlace,
}

/// Where the summary of a finding is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SummaryPlace {
    /// After the other columns, cut to this width; whole without a width.
    Beside(Option<usize>),
    /// On separate lines, because the screen is too narrow.
    Below,
}

impl Columns {
    fn of<F>(page: &Page<'_, F>, lines: &[Line], detail: Detail) -> Self {
        let longest = |of: fn(&Line) -> &str| lines.iter().map(|line| width(of(line))).max().unwrap_or(0);
        let kind = longest(|line| &line.kind);
        let name = longest(|line| &line.name);
        let verdict = longest(|line| &line.verdict);
        let age = longest(|line| &line.age);
        let longest_of = |at: usize| lines.iter().map(|line| width(&line.more[at])).max().unwrap_or(0);
        let more = (detail == Detail::Wide).then(|| std::array::from_fn(longest_of));
        let Some(screen) = page.terminal.width else {
            return Self { kind, name, verdict, age, more, summary: SummaryPlace::Beside(None) };
        };
        // Two spaces, the glyph, and one or two spaces before each column.
        let fixed = 2 + 2 + STATE_WIDTH + 1 + kind + 2 + 2 + verdict + 1 + age;
        let available = screen.saturating_sub(fixed);
        if name + 2 + SUMMARY_WIDTH_MIN <= available {
            let summary = SummaryPlace::Beside(Some(available - name - 2));
            return Self { kind, name, verdict, age, more, summary };
        }
        Self { kind, name: name.min(available.max(NAME_WIDTH_MIN)), verdict, age, more, summary: SummaryPlace::Below }
    }
}

fn findings<F>(page: &Page<'_, F>, lines: &[Line], block: &Block, columns: &Columns) -> Vec<String> {
    let mut shown: Vec<String> =
        block.listed.iter().flat_map(|place| finding_lines(page, &lines[*place], columns)).collect();
    if block.folded > 0 {
        let (glyph, word, style) = state_mark(State::Match, &page.terminal);
        let text = format!("{glyph} {} {}", padded(word, STATE_WIDTH), block.folded);
        shown.push(format!("  {}", page.terminal.paint(&text, style)));
    }
    shown
}

fn finding_lines<F>(page: &Page<'_, F>, finding: &Line, columns: &Columns) -> Vec<String> {
    let terminal = &page.terminal;
    let dots = terminal.pick("…", "...");
    let (glyph, word, style) = state_mark(finding.state, terminal);
    let mark = terminal.paint(&format!("{glyph} {}", padded(word, STATE_WIDTH)), style);
    let kind = padded(&finding.kind, columns.kind);
    let name = padded(&without_middle(&finding.name, columns.name, dots), columns.name);
    let verdict = padded(&finding.verdict, columns.verdict);
    let message = &finding.message;
    let mut line = format!("  {mark} {kind}  {name}  {verdict} {}", right(&finding.age, columns.age));
    for (text, columns) in finding.more.iter().zip(columns.more.iter().flatten()).filter(|(_, columns)| **columns > 0) {
        line.push_str(&format!("  {}", padded(text, *columns)));
    }
    match columns.summary {
        SummaryPlace::Beside(available) => {
            let message = available.map_or_else(|| message.clone(), |available| without_end(message, available, dots));
            vec![format!("{line}  {message}").trim_end().to_owned()]
        }
        SummaryPlace::Below => {
            let below = format!("{}{message}", " ".repeat(BELOW_INDENT));
            let mut lines = vec![line.trim_end().to_owned()];
            lines.extend(wrapped(&below, terminal.width, BELOW_INDENT));
            lines
        }
    }
}

/// What only a wide table says of an action.
fn more_of(action: &Action) -> String {
    let mut parts = Vec::from_iter(action.target.uid.as_ref().map(|uid| format!("uid: {uid}")));
    parts.extend(action.group.as_ref().map(|group| format!("group: {group}")));
    if !action.depends_on.is_empty() {
        parts.push(format!("after: {}", action.depends_on.join(",")));
    }
    parts.push(format!("finding: {}", action.finding().unwrap_or("-")));
    parts.iter().map(|part| format!(", {part}")).collect()
}

fn action_lines<F>(page: &Page<'_, F>, action: &Action, detail: Detail) -> Vec<String> {
    let terminal = &page.terminal;
    let tick = if action.selected { "[x]" } else { "[ ]" };
    let verb = padded(action.verb().as_str(), VERB_WIDTH);
    let before = format!("  {tick} {} {} {verb} {} ", action.id, action.tier, terminal.safe(&action.target.kind));
    let mut after = format!("{}, undo: {}", action.reason.as_str(), action.undo.as_str());
    if detail == Detail::Wide {
        after.push_str(&terminal.safe(&more_of(action)));
    }
    let name = terminal.safe(&place(&action.target));
    let whole = format!("{before}{name}  {after}");
    let mut lines = match terminal.width {
        Some(screen) if width(&whole) > screen => {
            let available = screen.saturating_sub(width(&before)).max(NAME_WIDTH_MIN);
            let name = without_middle(&name, available, terminal.pick("…", "..."));
            vec![format!("{before}{name}"), fit(page, &format!("{}{after}", " ".repeat(BELOW_INDENT)))]
        }
        Some(_) | None => vec![whole],
    };
    for blocked in &action.blocked_by {
        let (glyph, _, style) = state_mark(State::Blocked, terminal);
        let why = format!("         {glyph} {}: {}", blocked.gate.as_str(), terminal.safe(&blocked.why));
        let why = wrapped(&why, terminal.width, BELOW_INDENT + 2);
        lines.extend(why.into_iter().map(|line| terminal.paint(&line, style)));
    }
    lines
}

fn fit<F>(page: &Page<'_, F>, line: &str) -> String {
    match page.terminal.width {
        Some(columns) => without_end(line, columns, page.terminal.pick("…", "...")),
        None => line.to_owned(),
    }
}

fn totals<F: FindingSource>(page: &Page<'_, F>, silent: usize) -> String {
    // The user's kubeconfig files are not a cluster.
    let members = page.plan.targets.iter().filter(|target| target.source != TargetSource::Local);
    let (accounts, clusters): (Vec<&TargetRecord>, Vec<&TargetRecord>) =
        members.partition(|target| !target.identity.account.is_empty());
    let plan = page.plan;
    let dot = page.terminal.pick(" · ", "; ");
    let by_state: Vec<String> = State::ALL
        .iter()
        .filter_map(|state| {
            let (_, word, _) = state_mark(*state, &page.terminal);
            plan.summary.findings.get(state.as_str()).map(|number| format!("{number} {word}"))
        })
        .collect();
    let by_verb: Vec<String> = plan.summary.actions.iter().map(|(verb, number)| format!("{number} {verb}")).collect();
    let listed = |all: Vec<String>| if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) };
    let mut parts = vec![count(clusters.len(), "cluster")];
    if !accounts.is_empty() {
        parts.push(count(accounts.len(), "account"));
    }
    parts.extend([
        format!("{}{}", count(plan.findings.brief().count(), "finding"), listed(by_state)),
        format!("{}{}", count(plan.actions.len(), "action"), listed(by_verb)),
    ]);
    if plan.summary.blocked > 0 {
        parts.push(format!("{} blocked", plan.summary.blocked));
    }
    if silent > 0 {
        parts.push(format!("no findings in {}", count(silent, "cluster")));
    }
    parts.join(dot)
}
