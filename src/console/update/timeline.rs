//! Moving through the session's changes, and comparing two moments.
//!
//! Invariants: at a past moment nothing is planned, approved or accepted; changes of the fleet wait and are applied on the
//! return to live.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::act::{go, say};
use super::data;
use crate::console::effect::Effects;
use crate::console::keymap::Action;
use crate::console::model::{ChangedThing, Held, Model, Past, ScreenId};
use trueup_core::engine::SubjectId;
use trueup_core::world::{Cluster, ClusterName};

/// Goes this many changes back or forward. Beyond the last one is live.
pub fn step(model: &mut Model, by: isize) -> Effects {
    let (here, count) = (model.timeline.here(), model.timeline.count());
    let earliest = model.timeline.dropped();
    let wanted = here.saturating_add_signed(by).max(earliest);
    match (model.timeline.past.is_some(), wanted) {
        (false, wanted) if by < 0 && wanted < count => go_to(model, wanted),
        (false, _) if by < 0 => say(model, "No changes in this session yet."),
        (false, _) => say(model, "This is live: nothing later is known."),
        (true, wanted) if wanted >= count => live(model),
        (true, wanted) if wanted == here => {
            let text = match earliest {
                0 => "This is the start of the session.",
                _ => "Older changes dropped (--record keeps all).",
            };
            say(model, text)
        }
        (true, wanted) => go_to(model, wanted),
    }
}

/// Returns to live.
pub fn live(model: &mut Model) -> Effects {
    let Some(past) = model.timeline.past.take() else {
        return Effects::default();
    };
    let touched = past.touched();
    let Past { after: _, findings, clusters, waiting } = past;
    for (subject, held) in findings {
        show_finding(model, &subject, &held);
    }
    for cluster in clusters.into_values() {
        show_cluster(model, &cluster);
    }
    restore_order(model, touched);
    let mut effects = data::take(model, waiting);
    effects.redraw = true;
    effects
}

/// Marks this moment, or compares it with the marked one.
pub fn compare(model: &mut Model) -> Effects {
    let here = model.timeline.here();
    match model.timeline.mark.take() {
        None => {
            model.timeline.mark = Some(here);
            model.timeline.comparison = None;
            let time = clock(model, model.timeline.time_of(here));
            let text = format!("A is {time}. {}: compare another moment with it", model.key(Action::Compare));
            say(model, &text)
        }
        Some(mark) => {
            let shown = model.findings.len();
            model.timeline.comparison = Some(model.timeline.compare(mark, here, shown));
            go(model, ScreenId::Timeline)
        }
    }
}

/// Why an action is not possible at a past moment; none at the live one, and for actions that only look.
pub fn refusal(model: &Model, action: Action) -> Option<String> {
    let moment = model.timeline.past_moment().filter(|_| model.timeline.refuses(action))?;
    Some(format!("Viewing {}: press {} for live", clock(model, moment), model.key(Action::Back)))
}

fn clock(model: &Model, at: jiff::Timestamp) -> String {
    at.to_zoned(model.time_zone()).strftime("%H:%M:%S").to_string()
}

/// Shows the moment after this many changes.
fn go_to(model: &mut Model, after: usize) -> Effects {
    let mut past =
        model.timeline.past.take().unwrap_or_else(|| Past { after: model.timeline.count(), ..Past::default() });
    while past.after > after {
        past.after -= 1;
        let Some(change) = model.timeline.get(past.after).cloned() else { break };
        match change.what {
            ChangedThing::Finding { subject, before, after: _ } => {
                let newest = || model.findings.shared(&subject);
                past.findings.entry(subject.clone()).or_insert_with(newest);
                show_finding(model, &subject, &before);
            }
            ChangedThing::Link { before, after } => {
                let newest = model.fleet.get(&before.name).cloned().map_or(after, Arc::new);
                past.clusters.entry(before.name.clone()).or_insert(newest);
                show_cluster(model, &before);
            }
        }
    }
    while past.after < after {
        let Some(change) = model.timeline.get(past.after).cloned() else { break };
        past.after += 1;
        match change.what {
            ChangedThing::Finding { subject, before: _, after } => show_finding(model, &subject, &after),
            ChangedThing::Link { before: _, after } => show_cluster(model, &after),
        }
    }
    let touched = past.touched();
    model.timeline.past = Some(past);
    restore_order(model, touched);
    Effects::redraw()
}

fn show_finding(model: &mut Model, subject: &Arc<SubjectId>, held: &Held) {
    let class = model.fleet.class_of(&subject.cluster);
    let now = model.now;
    model.groups.change(subject.domain);
    let Model { checks, findings, expiry, .. } = model;
    let check = checks.iter_mut().find(|check| check.name == subject.domain);
    match held {
        Some(held) => {
            let (id, before) = findings.put(subject.clone(), held.clone());
            expiry.put(&id, before.as_deref(), Some(held));
            if let Some(check) = check {
                check.put(&id, held, class, findings, now);
            }
        }
        None => {
            if let Some((id, was)) = findings.remove(subject) {
                expiry.put(&id, Some(&was), None);
                if let Some(check) = check {
                    check.remove(&id);
                }
            }
        }
    }
}

fn show_cluster(model: &mut Model, cluster: &Cluster) {
    model.fleet.put(cluster.name.clone(), Some(cluster.clone()), model.now);
}

/// Restores orders and causes after rows were shown as they were.
fn restore_order(model: &mut Model, clusters: BTreeSet<ClusterName>) {
    data::show_sums(model, clusters);
    let Model { checks, findings, fleet, .. } = model;
    checks.iter_mut().for_each(|check| check.restore_tree_order(findings, fleet));
}
