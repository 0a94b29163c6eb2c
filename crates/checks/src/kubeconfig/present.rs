//! How a kubeconfig stands in its list: what is left of it, what it is, where it leads.

use jiff::Timestamp;

use super::content::Pair;
use super::expected::{CaComparison, EndpointComparison};
use super::facts::Holder;
use super::judge::pair_of;
use super::messages::span_message;
use super::ruling::Ruling;
use super::source::Source;
use super::subjects::{Sort, Subject};
use super::verdict::Verdict;
use crate::{Cell, CheckDescription, Column, Panel, Step};
use trueup_core::engine::State;

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "Kubeconfigs",
    short: "Kubecfg",
    plural: "kubeconfigs",
    message: "which kubeconfigs still work, for how long, and whether they lead where their clusters are",
    columns: &[
        Column::fixed("LEFT", 16, 1),
        Column::fixed("TYPE", 12, 2),
        Column::fixed("ENDPOINT", 10, 3),
        Column::fixed("CA", 10, 4),
        Column::fixed("SOURCE", 12, 5),
    ],
    verdict_width: 16,
    forms: &[],
};

/// One row, in the order of the columns.
pub fn cells(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Cell> {
    cells_of(ruling.target.and_then(|target| pair_of(subject.sort, target)), ruling)
}

/// The same for a kubeconfig that is not in a Secret.
pub fn cells_of(pair: Option<&Pair>, ruling: &Ruling<'_>) -> Vec<Cell> {
    let span = pair.map(|pair| pair.credential.span());
    let left = span.and_then(|span| Some(Cell::Left { from: span.from?, until: span.until? }));
    vec![
        left.unwrap_or(Cell::Nothing),
        Cell::text(pair.map_or("", |pair| pair.credential.kind())),
        Cell::text(endpoint_text(ruling.endpoint)),
        Cell::text(ca_text(ruling.ca)),
        Cell::text(&source_text(ruling)),
    ]
}

fn endpoint_text(comparison: EndpointComparison) -> &'static str {
    match comparison {
        EndpointComparison::Same => "=",
        EndpointComparison::Moved => "≠ moved",
        EndpointComparison::Differs => "~ proxied",
        EndpointComparison::InCluster => "inside",
        EndpointComparison::NotJudged => "",
    }
}

fn ca_text(comparison: CaComparison) -> &'static str {
    match comparison {
        CaComparison::Same => "=",
        CaComparison::Rotating => "~ rotating",
        CaComparison::Disjoint => "≠ disjoint",
        CaComparison::Insecure => "insecure",
        CaComparison::NotJudged => "",
    }
}

/// How much newer the source is, or what is wrong with it.
fn source_text(ruling: &Ruling<'_>) -> String {
    let issued = |sort: Sort, holder: &Holder| pair_of(sort, holder)?.credential.span().issued;
    match &ruling.source {
        Source::None => String::new(),
        Source::NotKnown(_) => "?".to_owned(),
        Source::Missing { .. } => "missing".to_owned(),
        Source::Invalid { .. } => "invalid".to_owned(),
        Source::Another { .. } => "another's".to_owned(),
        Source::Stale { .. } => "stale".to_owned(),
        Source::Good { holder, .. } => {
            let theirs = issued(Sort::Hosted, holder);
            let ours = ruling.target.and_then(|target| issued(Sort::Capi, target));
            match theirs.zip(ours).map(|(theirs, ours)| theirs.duration_since(ours)) {
                Some(newer) if newer.is_positive() => format!("{} newer", span_message(newer)),
                Some(older) if older.is_negative() => format!("{} older", span_message(older)),
                Some(_) => "same".to_owned(),
                None if ruling.has(Verdict::BehindSource) => "differs".to_owned(),
                None => "there".to_owned(),
            }
        }
    }
}

/// The way a kubeconfig goes to its Secret, then where it leads: the first does not decide the second.
pub fn panels(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> Vec<Panel> {
    let mut panels = Vec::new();
    if let Some(step) = source_step(ruling) {
        panels.push(Panel::Chain { title: "SOURCE", links: vec![step, copy_step(ruling)] });
    }
    let endpoint = Step {
        label: "endpoint".to_owned(),
        state: match ruling.endpoint {
            EndpointComparison::Moved => Some(State::Drift),
            EndpointComparison::Same | EndpointComparison::Differs | EndpointComparison::InCluster => {
                Some(State::Match)
            }
            EndpointComparison::NotJudged => None,
        },
        value: String::new(),
        note: endpoint_text(ruling.endpoint).to_owned(),
    };
    let authority = Step {
        label: "authority".to_owned(),
        state: match ruling.ca {
            CaComparison::Disjoint | CaComparison::Rotating => Some(State::Drift),
            CaComparison::Same | CaComparison::Insecure => Some(State::Match),
            CaComparison::NotJudged => None,
        },
        value: String::new(),
        note: ca_text(ruling.ca).to_owned(),
    };
    panels.push(Panel::Strip { title: "LEADS TO", steps: vec![endpoint, authority] });
    let pair = ruling.target.and_then(|target| pair_of(subject.sort, target));
    panels.extend(pair.map(|pair| credential_panel(pair, now)));
    panels
}

/// What one is let in by, and how long.
pub fn credential_panel(pair: &Pair, now: Timestamp) -> Panel {
    let span = pair.credential.span();
    let mut lines = vec![format!("{} for {}", pair.credential.kind(), pair.server)];
    lines.extend(span.issued.map(|at| format!("issued {at}")));
    lines.extend(span.until.map(|at| {
        let left = at.duration_since(now);
        let words = span_message(left);
        if left.is_positive() { format!("ends {at}, in {words}") } else { format!("ended {at}, {words} ago") }
    }));
    Panel::Lines { title: "CREDENTIAL", lines }
}

fn source_step(ruling: &Ruling<'_>) -> Option<Step> {
    let (state, note) = match &ruling.source {
        Source::None => return None,
        Source::NotKnown(gap) => (State::Unknown, gap.to_string()),
        Source::Missing { .. } => (State::Error, "missing".to_owned()),
        Source::Invalid { .. } => (State::Error, "invalid".to_owned()),
        Source::Another { .. } => (State::Drift, "another cluster's".to_owned()),
        Source::Stale { .. } => (State::Stale, "stale".to_owned()),
        Source::Good { .. } => (State::Match, "good".to_owned()),
    };
    Some(Step::judged("source", state, note))
}

fn copy_step(ruling: &Ruling<'_>) -> Step {
    match &ruling.source {
        Source::None | Source::NotKnown(_) | Source::Missing { .. } | Source::Invalid { .. } => {
            Step::not_judged("copy")
        }
        Source::Another { .. } | Source::Stale { .. } | Source::Good { .. } if ruling.has(Verdict::BehindSource) => {
            Step::judged("copy", State::Drift, "behind")
        }
        Source::Another { .. } | Source::Stale { .. } | Source::Good { .. } => Step::judged("copy", State::Match, ""),
    }
}
