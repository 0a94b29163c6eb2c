//! How a set of machines stands in its list: what it is made of, and what its annotations say of that.

use std::cmp::Ordering;

use super::compare::{AnnotationStatus, Family, Line};
use super::credentials::{Credentials, SecretSort};
use super::expected::Expected;
use super::explain::advice;
use super::login_chain::login_chain;
use super::messages::{credentials, key_text};
use super::names::{
    CAPACITY_CPU, CAPACITY_GPU_COUNT, CAPACITY_LABELS, CAPACITY_MEMORY, MACHINE_CPU, MACHINE_GPU, MACHINE_MEMORY,
};
use super::quantity::Quantity;
use super::ruling::Ruling;
use super::subjects::Subject;
use super::upstream;
use super::verdict::Verdict;
use crate::{Cell, CheckDescription, Column, Panel, Step};
use trueup_core::engine::State;

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "Machine sets",
    short: "Sets",
    plural: "machine sets",
    message: "whether autoscalers know what a machine of each set would have, so that it can be scaled up from zero",
    columns: &[
        Column::fixed("TYPE", 12, 1),
        Column::fixed("CPU", 7, 2),
        Column::fixed("MEMORY", 11, 3),
        Column::fixed("ARCH", 6, 4),
        Column::fixed("LOGIN", 12, 5),
        Column::fixed("GPU", 5, 6),
        Column::fixed("REGION", 14, 7),
    ],
    verdict_width: 21,
    forms: &[],
};

/// One row, in the order of the columns.
pub fn cells(ruling: &Ruling<'_>) -> Vec<Cell> {
    let (instance_type, region) =
        ruling.machine.as_ref().map_or(("", ""), |machine| (machine.instance_type.value, machine.region.value));
    let node = ruling.expected;
    let value = |of: fn(&Expected) -> String, keys: [&str; 2]| pair(ruling, node.as_ref().map(of), keys, as_it_is);
    let memory = node.as_ref().map(|node| size(node.memory_mib));
    vec![
        Cell::text(instance_type),
        value(|node| node.cpus.to_string(), [CAPACITY_CPU, MACHINE_CPU]),
        pair(ruling, memory, [CAPACITY_MEMORY, MACHINE_MEMORY], size_of),
        Cell::text(node.as_ref().map_or("", |node| node.arch.as_str())),
        Cell::text(login_text(&ruling.credentials)),
        value(|node| node.gpus.to_string(), [CAPACITY_GPU_COUNT, MACHINE_GPU]),
        Cell::text(region),
    ]
}

/// What is expected beside the first of these keys that says something else.
fn pair(ruling: &Ruling<'_>, expected: Option<String>, keys: [&str; 2], shown: Shown) -> Cell {
    let Some(expected) = expected else { return Cell::Nothing };
    let wrong = |line: &&Line<'_>| keys.contains(&line.key) && line.status != AnnotationStatus::Same;
    match ruling.lines.iter().filter(wrong).max_by_key(|line| line.actual.is_some()) {
        None => Cell::Text(expected.into()),
        Some(line) => {
            Cell::Pair { expected: expected.into(), actual: shown(line).unwrap_or_else(|| "-".to_owned()).into() }
        }
    }
}

/// How a cell shows what an annotation says; nothing where it is not there.
type Shown = fn(&Line<'_>) -> Option<String>;

fn as_it_is(line: &Line<'_>) -> Option<String> {
    line.actual.map(str::to_owned)
}

/// Mebibytes in a few letters.
fn size(mebibytes: u64) -> String {
    if mebibytes.is_multiple_of(1024) { format!("{}Gi", mebibytes / 1024) } else { format!("{mebibytes}Mi") }
}

/// What an annotation says of memory in as few letters: one family counts mebibytes, the other says a unit.
fn size_of(line: &Line<'_>) -> Option<String> {
    let held = line.actual?;
    let mebibytes = match line.family {
        Family::Machine => held.parse().ok(),
        Family::Capacity => Quantity::parse(held).and_then(Quantity::whole_mebibytes),
    };
    Some(mebibytes.map_or_else(|| held.to_owned(), size))
}

fn login_text(credentials: &Credentials) -> &'static str {
    match credentials {
        Credentials::NotJudged { .. } => "",
        Credentials::NotKnown(_) => "?",
        Credentials::Role { .. } => "role",
        Credentials::Half(_) => "role (half)",
        Credentials::Secret { sort: SecretSort::Keys, .. } => "key",
        Credentials::Secret { sort: SecretSort::WebIdentity, .. } => "web identity",
        Credentials::SecretMissing { .. } => "no Secret",
        Credentials::SecretInvalid { .. } => "bad Secret",
        Credentials::None { .. } => "none",
    }
}

/// The way from a spec to its annotations, stage by stage; the first that is not right breaks the chain.
pub fn panels(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Panel> {
    let mut panels = vec![Panel::Chain { title: "STAGES", links: stages(ruling) }];
    let login = login_chain(subject, ruling);
    if !login.is_empty() {
        panels.push(Panel::Chain { title: "LOGIN", links: login });
    }
    if !ruling.lines.is_empty() {
        panels.push(Panel::Lines { title: "ANNOTATIONS", lines: annotation_lines(ruling) });
    }
    let notes: Vec<String> = advice(subject, ruling).into_iter().map(|one| one.message).collect();
    if !notes.is_empty() {
        panels.push(Panel::Lines { title: "WORTH KNOWING", lines: notes });
    }
    let events = upstream::message(subject, ruling);
    if !events.is_empty() {
        panels.push(Panel::Lines { title: "UPSTREAM'S ANNOTATOR SAYS", lines: events });
    }
    panels
}

/// Both families under one another, so that a difference is seen.
fn annotation_lines(ruling: &Ruling<'_>) -> Vec<String> {
    let of = |line: &Line<'_>| {
        let sign = match line.status {
            AnnotationStatus::Same => "=",
            AnnotationStatus::Absent => "+",
            AnnotationStatus::Differs => "≠",
        };
        let held = line.actual.unwrap_or("-");
        let expected = match line.status {
            AnnotationStatus::Same => String::new(),
            AnnotationStatus::Absent | AnnotationStatus::Differs => {
                format!(" → {}", line.expected.as_deref().unwrap_or("-"))
            }
        };
        format!("{sign} {:<9} {held}{expected}", key_text(line.key))
    };
    let mut lines = Vec::new();
    for family in [Family::Machine, Family::Capacity] {
        let own: Vec<String> = ruling.lines.iter().filter(|line| line.family == family).map(of).collect();
        if !own.is_empty() {
            lines.push(format!("{}/", family.prefix()));
            lines.extend(own);
        }
    }
    lines
}

fn stages(ruling: &Ruling<'_>) -> Vec<Step> {
    let reached = stage(ruling);
    let step = |label: &str, at: Stage, note: String| match at.cmp(&reached) {
        Ordering::Less => Step::judged(label, State::Match, note),
        Ordering::Equal => Step::judged(label, ruling.verdict.state(), note),
        Ordering::Greater => Step::not_judged(label),
    };
    let machine = ruling.machine.as_ref();
    let spec = machine
        .map_or_else(String::new, |machine| format!("{} in {}", machine.instance_type.value, machine.region.value));
    let offered = ruling.asked.map_or_else(String::new, |by| by.to_string());
    let asked = ruling.why.failure().map_or(offered, |failure| failure.code.clone());
    let labels = ruling.lines.iter().any(|line| line.key == CAPACITY_LABELS && line.status != AnnotationStatus::Same);
    let wrong = ruling.lines.iter().filter(|line| line.status != AnnotationStatus::Same).count();
    let annotations = match (wrong, labels) {
        (0, _) => String::new(),
        (1, true) => "labels differ".to_owned(),
        (wrong, _) => format!("{wrong} to set right"),
    };
    vec![
        step("spec", Stage::Spec, spec),
        match ruling.credentials {
            Credentials::NotJudged { .. } => Step::not_judged("login"),
            Credentials::NotKnown(_)
            | Credentials::Role { .. }
            | Credentials::Half(_)
            | Credentials::Secret { .. }
            | Credentials::SecretMissing { .. }
            | Credentials::SecretInvalid { .. }
            | Credentials::None { .. } => step("login", Stage::Login, credentials(&ruling.credentials)),
        },
        step("lookup", Stage::Lookup, asked),
        step("type", Stage::Type, String::new()),
        step("annotations", Stage::Annotations, annotations),
    ]
}

/// How far it is from a spec to its annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Spec,
    Login,
    Lookup,
    Type,
    Annotations,
}

/// Where on the way a verdict falls.
fn stage(ruling: &Ruling<'_>) -> Stage {
    match ruling.verdict {
        Verdict::Unknown if ruling.machine.is_none() => Stage::Spec,
        Verdict::Unknown if matches!(ruling.credentials, Credentials::NotKnown(_)) => Stage::Login,
        Verdict::Skipped
        | Verdict::NotAws
        | Verdict::InvalidSpec
        | Verdict::InstanceTypeEmpty
        | Verdict::RegionInvalid => Stage::Spec,
        Verdict::CredentialsPartial | Verdict::CredentialsNone | Verdict::SecretMissing | Verdict::SecretInvalid => {
            Stage::Login
        }
        Verdict::TokenUnreadable if ruling.why.failure().is_none() => Stage::Login,
        Verdict::TokenUnreadable | Verdict::Denied | Verdict::Transient | Verdict::Unknown => Stage::Lookup,
        Verdict::InstanceTypeUnknown => Stage::Type,
        Verdict::Missing | Verdict::KeysDisagree | Verdict::Drift | Verdict::Match => Stage::Annotations,
    }
}
