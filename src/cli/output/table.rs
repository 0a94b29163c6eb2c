//! The plan as a table, one block per cluster.
//!
//! Invariants: no line is wider than the terminal; nothing is cut in a pipe or file.

use super::text::{padded, right, width, without_end, without_middle, wrapped};
use super::vocabulary::{accepted_note, age, count, place, state_mark};
use super::{Matches, Page};
use crate::cli::terminal::Style;
use trueup_core::engine::{Action, Finding, State, TargetRecord, TargetSource, short_id};

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

/// Renders the table.
pub fn table(page: &Page<'_>) -> String {
    let plan = page.plan;
    let mut lines = vec![title(page), String::new()];
    let columns = Columns::of(page);
    let mut silent = 0;
    for target in &plan.targets {
        let block = cluster(page, target, &columns);
        if block.is_empty() {
            silent += 1;
        } else {
            lines.extend(block);
            lines.push(String::new());
        }
    }
    let is_listed = |one: &&Finding| plan.targets.iter().any(|target| is_of(one, target));
    let elsewhere: Vec<&Finding> = plan.findings.iter().filter(|one| !is_listed(one)).collect();
    if !elsewhere.is_empty() {
        lines.push(page.terminal.paint("(no cluster)", Style::Title));
        lines.extend(findings(page, &elsewhere, &columns));
        let is_elsewhere = |action: &&Action| plan.targets.iter().all(|target| target.cluster != action.cluster);
        let mut actions: Vec<&Action> = plan.actions.iter().filter(is_elsewhere).collect();
        actions.sort_by(|one, other| one.finding().cmp(&other.finding()));
        if !actions.is_empty() {
            lines.push(String::new());
            lines.extend(actions.into_iter().flat_map(|action| action_lines(page, action)));
        }
        lines.push(String::new());
    }
    lines.push(totals(page, silent));
    lines.join("\n") + "\n"
}

fn title(page: &Page<'_>) -> String {
    let plan = page.plan;
    let name = page.terminal.paint(&format!("plan {}", short_id(&plan.id)), Style::Title);
    format!("{name}  made {}, valid until {}", page.time(plan.created_at), page.clock(plan.expires_at))
}

fn cluster(page: &Page<'_>, target: &TargetRecord, columns: &Columns) -> Vec<String> {
    let plan = page.plan;
    let own: Vec<&Finding> = plan.findings.iter().filter(|one| is_of(one, target)).collect();
    let mut actions: Vec<&Action> = plan.actions.iter().filter(|one| one.cluster == target.cluster).collect();
    actions.sort_by(|one, other| one.finding().cmp(&other.finding()));
    if own.is_empty() && actions.is_empty() {
        return Vec::new();
    }
    let name = page.terminal.paint(&page.terminal.safe(&target.cluster), Style::Title);
    let head = format!("{name}  {}  {}", target.class.as_str(), target.source.as_str());
    let mut lines = vec![format!("{head}{}", knowledge(page, target))];
    lines.extend(findings(page, &own, columns));
    if !actions.is_empty() {
        lines.push(String::new());
        lines.extend(actions.into_iter().flat_map(|action| action_lines(page, action)));
    }
    lines
}

/// Whether a finding belongs to a target: its cluster, or the account of a resource without a cluster.
fn is_of(finding: &Finding, target: &TargetRecord) -> bool {
    let account =
        finding.subject.cloud.as_ref().map(|cloud| cloud.account.as_str()).filter(|account| !account.is_empty());
    let is_unclaimed = finding.cluster.is_empty() && account == Some(target.identity.account.as_str());
    finding.cluster == target.cluster || is_unclaimed
}

/// Age of the oldest list, and the number of incomplete ones. A recording has no age.
fn knowledge(page: &Page<'_>, target: &TargetRecord) -> String {
    // Sorted by cluster: those of one are found without visiting the others.
    let all = &page.plan.observations;
    let from = all.partition_point(|seen| seen.cluster < target.cluster);
    let own: Vec<_> = all[from..].iter().take_while(|seen| seen.cluster == target.cluster).collect();
    let recorded = target.source == TargetSource::Snapshot;
    let oldest = own.iter().filter_map(|seen| seen.at).min().filter(|_| !recorded);
    let known = oldest.map_or(String::new(), |at| format!("  as of {} ago", age(at, page.now)));
    let collections = own.iter().map(|seen| 1 + seen.more).sum();
    match own.iter().filter(|seen| seen.state != "complete").map(|seen| 1 + seen.more).sum::<usize>() {
        0 => known,
        gaps => format!("{known}  {gaps} of {} not complete", count(collections, "collection")),
    }
}

/// Column widths, the same for every block.
struct Columns {
    kind: usize,
    name: usize,
    verdict: usize,
    age: usize,
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
    fn of(page: &Page<'_>) -> Self {
        let shown: Vec<&Finding> = page.plan.findings.iter().filter(|finding| is_listed(page, finding)).collect();
        let longest = |of: &dyn Fn(&Finding) -> String| shown.iter().map(|one| width(&of(one))).max().unwrap_or(0);
        let kind = longest(&|one| page.terminal.safe(&one.subject.kind));
        let name = longest(&|one| page.terminal.safe(&place(&one.subject)));
        let verdict = longest(&|one| page.terminal.safe(&one.verdict));
        let age = longest(&|one| page.created.get(&one.id).map_or(String::new(), |at| self::age(*at, page.now)));
        let Some(screen) = page.terminal.width else {
            return Self { kind, name, verdict, age, summary: SummaryPlace::Beside(None) };
        };
        // Two spaces, the glyph, and one or two spaces before each column.
        let fixed = 2 + 2 + STATE_WIDTH + 1 + kind + 2 + 2 + verdict + 1 + age;
        let available = screen.saturating_sub(fixed);
        if name + 2 + SUMMARY_WIDTH_MIN <= available {
            let summary = SummaryPlace::Beside(Some(available - name - 2));
            return Self { kind, name, verdict, age, summary };
        }
        Self { kind, name: name.min(available.max(NAME_WIDTH_MIN)), verdict, age, summary: SummaryPlace::Below }
    }
}

fn is_listed(page: &Page<'_>, finding: &Finding) -> bool {
    finding.state != State::Match || page.matches == Matches::Listed
}

fn findings(page: &Page<'_>, all: &[&Finding], columns: &Columns) -> Vec<String> {
    let mut lines: Vec<String> =
        all.iter().filter(|one| is_listed(page, one)).flat_map(|one| finding_lines(page, one, columns)).collect();
    let folded = all.iter().filter(|one| !is_listed(page, one)).count();
    if folded > 0 {
        let (glyph, word, style) = state_mark(State::Match, &page.terminal);
        lines.push(format!(
            "  {}",
            page.terminal.paint(&format!("{glyph} {} {folded}", padded(word, STATE_WIDTH)), style)
        ));
    }
    lines
}

fn finding_lines(page: &Page<'_>, finding: &Finding, columns: &Columns) -> Vec<String> {
    let terminal = &page.terminal;
    let dots = terminal.pick("…", "...");
    let (glyph, word, style) = state_mark(finding.state, terminal);
    let mark = terminal.paint(&format!("{glyph} {}", padded(word, STATE_WIDTH)), style);
    let kind = padded(&terminal.safe(&finding.subject.kind), columns.kind);
    let name = terminal.safe(&place(&finding.subject));
    let name = padded(&without_middle(&name, columns.name, dots), columns.name);
    let verdict = padded(&terminal.safe(&finding.verdict), columns.verdict);
    let age = page.created.get(&finding.id).map_or(String::new(), |at| age(*at, page.now));
    let mut message = terminal.safe(&finding.summary);
    if let Some(note) = accepted_note(finding) {
        message = format!("{message} ({})", terminal.safe(&note));
    }
    let line = format!("  {mark} {kind}  {name}  {verdict} {}", right(&age, columns.age));
    match columns.summary {
        SummaryPlace::Beside(available) => {
            let message = available.map_or_else(|| message.clone(), |available| without_end(&message, available, dots));
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

fn action_lines(page: &Page<'_>, action: &Action) -> Vec<String> {
    let terminal = &page.terminal;
    let tick = if action.selected { "[x]" } else { "[ ]" };
    let verb = padded(action.verb().as_str(), VERB_WIDTH);
    let before = format!("  {tick} {} {} {verb} {} ", action.id, action.tier, terminal.safe(&action.target.kind));
    let after = format!("{}, undo: {}", action.reason.as_str(), action.undo.as_str());
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

fn fit(page: &Page<'_>, line: &str) -> String {
    match page.terminal.width {
        Some(columns) => without_end(line, columns, page.terminal.pick("…", "...")),
        None => line.to_owned(),
    }
}

fn totals(page: &Page<'_>, silent: usize) -> String {
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
        format!("{}{}", count(plan.findings.len(), "finding"), listed(by_state)),
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
