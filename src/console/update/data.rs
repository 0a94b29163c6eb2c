//! Clusters and findings that changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::console::effect::Effects;
use crate::console::model::{FeedLine, Model, Paused};
use crate::console::task::Task;
use crate::engine::{State, SubjectId};
use crate::live::{Held, Update};
use crate::world::{ClusterName, Link};

/// Takes changes in, or keeps them for later while the view is frozen.
pub fn take(model: &mut Model, update: Update) -> Effects {
    match &mut model.paused {
        Some(paused) => {
            paused.waiting.merge(update);
            Effects::default()
        }
        None => apply(model, update),
    }
}

/// Freezes the view, or lets it go on with all that happened meanwhile.
pub fn toggle_pause(model: &mut Model) -> Effects {
    match model.paused.take() {
        Some(Paused { waiting, .. }) => {
            let mut effects = apply(model, waiting);
            effects.redraw = true;
            effects
        }
        None => {
            model.paused = Some(Paused { since: model.now, waiting: Update::default() });
            Effects::redraw()
        }
    }
}

fn apply(model: &mut Model, update: Update) -> Effects {
    let Update { findings, clusters } = update;
    let mut effects = Effects { redraw: !clusters.is_empty(), ..Effects::default() };
    let any_clusters = !clusters.is_empty();
    let mut touched: BTreeSet<ClusterName> = clusters.keys().cloned().collect();
    for (name, cluster) in clusters {
        model.fleet.put(name, cluster);
    }
    if any_clusters {
        model.fleet.arrange();
    }
    for (subject, held) in findings {
        touched.insert(subject.cluster.clone());
        let shown = match held {
            Some(held) => judged(model, subject, held, &mut effects),
            None => gone(model, &subject, &mut effects),
        };
        effects.redraw |= shown;
    }
    for cluster in touched {
        let differences = model.findings.counts_in(&cluster).differences();
        model.feed.note(&cluster, model.now, differences);
    }
    effects.redraw |= any_clusters || matches!(model.place(), crate::console::model::Place::Fleet);
    effects
}

fn judged(model: &mut Model, subject: Arc<SubjectId>, held: Arc<Held>, effects: &mut Effects) -> bool {
    let class = model.fleet.class_of(&subject.cluster);
    let (id, before) = model.findings.put(subject, held.clone());
    if is_news(model, &id, before.as_deref(), &held) {
        news(model, &id, Some((held.judgement.state, held.judgement.verdict)));
    }
    if let Some(plan) = &mut model.plan {
        plan.revalidate(&id.to_string(), Some(&held));
    }
    if model.detail.subject.as_ref() == Some(&id) {
        model.detail.ask = model.next_ask();
        effects.task(Task::Explain { ask: model.detail.ask, subject: (*id).clone() });
    }
    let now = model.now;
    let Model { checks, findings, .. } = model;
    let check = checks.iter_mut().find(|check| check.name == id.domain);
    check.is_some_and(|check| check.put(&id, &held, class, findings, now))
}

fn gone(model: &mut Model, subject: &SubjectId, _effects: &mut Effects) -> bool {
    let Some((id, held)) = model.findings.remove(subject) else { return false };
    if held.judgement.state != State::Match {
        news(model, &id, None);
    }
    if let Some(plan) = &mut model.plan {
        plan.revalidate(&id.to_string(), None);
    }
    let check = model.checks.iter_mut().find(|check| check.name == id.domain);
    check.is_some_and(|check| check.remove(&id))
}

/// Whether a person would want to read it: a verdict that changed, or a difference that is new in a cluster that has been
/// read already. What a first look finds is no news.
fn is_news(model: &Model, id: &SubjectId, before: Option<&Held>, held: &Held) -> bool {
    match before {
        Some(before) => before.judgement.verdict != held.judgement.verdict,
        None => {
            let link = model.fleet.get(&id.cluster).map(|cluster| &cluster.link);
            held.judgement.state != State::Match && matches!(link, Some(Link::Live { .. }))
        }
    }
}

fn news(model: &mut Model, id: &SubjectId, now: Option<(State, &'static str)>) {
    let place = id.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    let subject = format!("{} {place}{}", id.kind, id.name);
    model.feed.push(FeedLine { at: model.now, cluster: id.cluster.clone(), subject, now });
}
