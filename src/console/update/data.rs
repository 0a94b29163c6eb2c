//! Changes of clusters and findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::SignedDuration;

use super::timeline;
use crate::console::effect::{Alert, Effects, TerminalRequest};
use crate::console::event::Focus;
use crate::console::model::{
    ACCEPTED, Accepted, Arrival, ChangedThing, FLEET_DRIFT, FeedLine, FleetFacts, Held, Layer, Model, Paused,
    TimedChange,
};
use crate::console::task::Task;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{AcceptRule, ChangeRecord, CheckName, LinkState, RecordedChange, State, SubjectId};
use trueup_core::world::{Cluster, ClusterName, Link};
use trueup_fleet::live::Update;

/// Shortest time between alerts: many changes cause one alert.
const ALERT_AGAIN_AFTER: SignedDuration = SignedDuration::from_secs(60);

/// Applies changes, or keeps them while updates are paused or a past moment is shown.
pub fn take(model: &mut Model, update: Update) -> Effects {
    let past = model.timeline.past.as_mut().map(|past| &mut past.waiting);
    let Some(waiting) = model.paused.as_mut().map(|paused| &mut paused.waiting).or(past) else {
        return apply(model, update);
    };
    // The shown rows do not change; whether a plan is stale does.
    if let Some(plan) = &mut model.plan {
        update.findings.iter().for_each(|(id, held)| plan.revalidate(&id.to_string(), held.as_deref()));
    }
    waiting.merge(update);
    Effects::redraw()
}

/// Pauses updates, or resumes them with all changes since.
pub fn toggle_pause(model: &mut Model) -> Effects {
    match model.paused.take() {
        Some(Paused { waiting, .. }) => {
            let mut effects = take(model, waiting);
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
    let Update { findings, clusters, clocks, lists, edits, arrived } = update;
    let mut effects =
        Effects { redraw: !clusters.is_empty() || !clocks.is_empty() || !lists.is_empty(), ..Effects::default() };
    for (name, clock) in clocks {
        model.fleet.put_clock(name, clock);
    }
    let listed: BTreeSet<ClusterName> = lists.keys().cloned().collect();
    for (name, lists) in lists {
        model.fleet.put_lists(name, lists, model.now);
    }
    if !edits.is_empty() {
        model.checks.iter().for_each(|check| model.groups.change(check.name));
    }
    model.records.put_edits(edits, model.now);
    let any_clusters = !clusters.is_empty();
    let mut touched: BTreeSet<ClusterName> = clusters.keys().chain(&listed).cloned().collect();
    let arriving = FirstLists::before(model, clusters.keys(), arrived);
    for (name, cluster) in clusters {
        let needs_login = |cluster: &Cluster| matches!(cluster.link, Link::AuthExpired { .. });
        if cluster.as_ref().is_some_and(needs_login) && !model.fleet.get(&name).is_some_and(needs_login) {
            effects.tasks.push(Task::AskPlugin(name.clone()));
        }
        note_link(model, &name, cluster.as_ref());
        model.fleet.put(name, cluster, model.now);
    }
    let before = model.feed.recorded();
    touched.iter().for_each(|name| linked(model, name));
    for (subject, held) in findings {
        touched.insert(subject.cluster.clone());
        let shown = match held {
            Some(held) => judged(model, subject, held, &arriving, &mut effects),
            None => gone(model, &subject, &arriving),
        };
        effects.redraw |= shown;
    }
    effects.terminal.extend(alert(model, model.feed.recorded() - before));
    let Model { checks, findings, fleet, .. } = model;
    checks.iter_mut().for_each(|check| check.restore_tree_order(findings, fleet));
    let has_changed = !touched.is_empty();
    sum_up(model, touched);
    effects.redraw |= has_changed && matches!(model.layer, Some(Layer::Wall));
    effects.redraw |= any_clusters || matches!(model.screen(), crate::console::model::ScreenId::Fleet);
    effects
}

/// Judges again every finding that an acceptance covers or covered.
pub fn accept_again(model: &mut Model, rules: Vec<AcceptRule>) -> Effects {
    let now = model.now;
    let mut effects = timeline::live(model);
    effects.redraw = true;
    let before = std::mem::replace(&mut model.accepted, Accepted::new(rules, now));
    let is_marked = |held: &CurrentJudgement| held.judgement.codes.contains(&ACCEPTED);
    let covered = |id: &SubjectId| model.accepted.rule(id, now).is_some();
    let touched: Vec<(Arc<SubjectId>, Arc<CurrentJudgement>)> = model
        .findings
        .iter()
        .filter(|(id, held)| is_marked(held) || covered(id))
        .map(|(id, held)| (id.clone(), Arc::new(before.unmarked(id, held))))
        .collect();
    let clusters: BTreeSet<ClusterName> = touched.iter().map(|(id, _)| id.cluster.clone()).collect();
    for (id, held) in touched {
        judged(model, id, held, &FirstLists::Complete, &mut effects);
    }
    let Model { checks, findings, fleet, .. } = model;
    checks.iter_mut().for_each(|check| check.restore_tree_order(findings, fleet));
    sum_up(model, clusters);
    effects
}

/// Sums up clusters whose link or findings changed: their row in the fleet, and their number of differences now.
fn sum_up(model: &mut Model, clusters: BTreeSet<ClusterName>) {
    if clusters.is_empty() {
        return;
    }
    for cluster in &clusters {
        model.feed.note(cluster, model.now, model.findings.counts_in(cluster).differences());
    }
    let all = model.checks.iter().map(|check| model.findings.counts_of(check.name).differences()).sum();
    model.feed.note(&ClusterName::new(FLEET_DRIFT), model.now, all);
    show_sums(model, clusters);
}

/// Shows the counts and the largest cause of clusters in their rows.
pub fn show_sums(model: &mut Model, clusters: BTreeSet<ClusterName>) {
    let checks: Vec<CheckName> = model.checks.iter().map(|check| check.name).collect();
    let words = model.group_words();
    for cluster in clusters {
        model.causes.renew(&cluster, &checks, &model.findings, &model.records.edits);
        let counts = model.findings.counts_in(&cluster);
        let largest = model.causes.get(&cluster);
        let what = largest.map(|largest| largest.sentence(&words)).unwrap_or_default().into();
        let facts = FleetFacts { counts, since: largest.and_then(|largest| largest.since), what };
        model.fleet.sum_up(&cluster, facts, model.now);
    }
}

/// Which clusters had a complete first list before an update: the findings of the others are not news.
enum FirstLists {
    /// All that count had one.
    Complete,
    /// As their links say, but for those that the update is about.
    Before(BTreeMap<ClusterName, bool>),
}

impl FirstLists {
    /// Notes the clusters that an update is about, before it is applied, and those that it says had none.
    fn before<'n>(
        model: &Model,
        names: impl Iterator<Item = &'n ClusterName>,
        arrived: impl IntoIterator<Item = ClusterName>,
    ) -> Self {
        let linked = names.map(|name| (name.clone(), is_arriving(model, name)));
        let arrived = arrived.into_iter().map(|name| (name, true));
        Self::Before(linked.chain(arrived).collect())
    }

    fn awaits(&self, cluster: &ClusterName, model: &Model) -> bool {
        match self {
            Self::Complete => false,
            Self::Before(changed) => changed.get(cluster).copied().unwrap_or_else(|| is_arriving(model, cluster)),
        }
    }
}

fn is_arriving(model: &Model, cluster: &ClusterName) -> bool {
    let link = model.fleet.get(cluster).map(|cluster| &cluster.link);
    matches!(link, Some(Link::Idle | Link::Connecting | Link::Listing { .. }))
}

fn judged(
    model: &mut Model,
    subject: Arc<SubjectId>,
    mut held: Arc<CurrentJudgement>,
    arriving: &FirstLists,
    effects: &mut Effects,
) -> bool {
    // Judgements are shared with the loop; only accepted ones are copied.
    if model.accepted.rule(&subject, model.now).is_some() {
        model.accepted.mark(&subject, Arc::make_mut(&mut held), model.now);
    } else {
        model.accepted.forget(&subject);
    }
    let class = model.fleet.class_of(&subject.cluster);
    let (id, before) = model.findings.put(subject, held.clone());
    model.expiry.put(&id, before.as_deref(), Some(&held));
    model.groups.change(id.domain);
    let arrival = arrival(model, &id, arriving);
    if let Some(record) = model.records.judged(&id, before.as_deref(), &held, arrival, model.now) {
        note(model, &id, before, Some(held.clone()), &record);
        news(model, record);
    }
    if let Some(plan) = &mut model.plan {
        plan.revalidate(&id.to_string(), Some(&held));
    }
    if model.detail.subject.as_ref() == Some(&id) && model.detail.due_at().is_none() {
        let ask = model.next_request();
        model.detail.request(ask);
        effects.task(Task::Explain { ask, subject: (*id).clone() });
    }
    let now = model.now;
    let Model { checks, findings, .. } = model;
    let check = checks.iter_mut().find(|check| check.name == id.domain);
    check.is_some_and(|check| check.put(&id, &held, class, findings, now))
}

fn gone(model: &mut Model, subject: &SubjectId, arriving: &FirstLists) -> bool {
    model.accepted.forget(subject);
    let Some((id, held)) = model.findings.remove(subject) else { return false };
    model.expiry.put(&id, Some(&held), None);
    model.groups.change(id.domain);
    let arrival = arrival(model, &id, arriving);
    if let Some(record) = model.records.gone(&id, &held, arrival, model.now) {
        note(model, &id, Some(held.clone()), None, &record);
        news(model, record);
    }
    if let Some(plan) = &mut model.plan {
        plan.revalidate(&id.to_string(), None);
    }
    let check = model.checks.iter_mut().find(|check| check.name == id.domain);
    check.is_some_and(|check| check.remove(&id))
}

/// Whether the clusters that a subject is judged by have been read before.
fn arrival(model: &Model, id: &SubjectId, arriving: &FirstLists) -> Arrival {
    let own = model.fleet.get(&id.cluster);
    let host = own.and_then(|cluster| cluster.hosted_by.as_ref()).map(|by| &by.cluster);
    let seen_from = id.cloud.as_ref().and_then(|place| place.seen_from.as_ref()).map(|seen| &seen.cluster);
    let is_live = own.is_some_and(|cluster| matches!(cluster.link, Link::Live { .. }));
    let is_arriving =
        [Some(&id.cluster), host, seen_from].into_iter().flatten().any(|name| arriving.awaits(name, model));
    if is_live && !is_arriving { Arrival::Settled } else { Arrival::Arriving }
}

/// Takes in the link of a cluster, as far as it is known now.
fn linked(model: &mut Model, name: &ClusterName) {
    let Some(cluster) = model.fleet.get(name) else {
        model.records.left(name);
        return;
    };
    let unread = model.fleet.unread(cluster);
    let state = LinkState::of(&cluster.link, model.fleet.lists_read(name));
    let why = match (&cluster.link, unread) {
        (Link::Degraded { gap, .. } | Link::AuthExpired { gap, .. } | Link::Failed { gap }, _) => {
            Some(gap.message.to_string())
        }
        (_, Some(lists)) => Some(format!("{} of {} lists not read", lists.unread, lists.of)),
        (_, None) => None,
    };
    if let Some(record) = model.records.linked(name, state, why.as_deref(), model.now) {
        news(model, record);
    }
}

/// A change is news, unless the link of its cluster says why it is not known any more.
fn news(model: &mut Model, record: Arc<ChangeRecord>) {
    let is_unknown = |change: &RecordedChange| matches!(change, RecordedChange::Finding { to: Some(to), .. } if to.state == State::Unknown);
    let is_live = |cluster: &Cluster| matches!(cluster.link, Link::Live { .. });
    if !is_unknown(&record.change) || model.fleet.get(&record.cluster).is_some_and(is_live) {
        model.feed.push(record);
    }
}

/// Adds a change of a finding to the timeline.
fn note(model: &mut Model, subject: &Arc<SubjectId>, before: Held, after: Held, record: &Arc<ChangeRecord>) {
    let what = ChangedThing::Finding { subject: subject.clone(), before, after };
    model.timeline.push(TimedChange { at: model.now, what, record: Some(record.clone()) });
}

/// Adds a change of a connection to the timeline. Connecting for the first time is none.
fn note_link(model: &mut Model, name: &ClusterName, cluster: Option<&Cluster>) {
    let is_arriving = |link: &Link| matches!(link, Link::Idle | Link::Connecting | Link::Listing { .. });
    let Some((before, after)) = model.fleet.get(name).zip(cluster) else { return };
    if is_arriving(&before.link) || std::mem::discriminant(&before.link) == std::mem::discriminant(&after.link) {
        return;
    }
    let what = ChangedThing::Link { before: Arc::new(before.clone()), after: Arc::new(after.clone()) };
    model.timeline.push(TimedChange { at: model.now, what, record: None });
}

/// Alerts the user if one of the latest news is a worse verdict, at most once per interval.
fn alert(model: &mut Model, fresh: usize) -> Option<TerminalRequest> {
    let is_due = model.alerted.is_none_or(|last| model.now.duration_since(last) >= ALERT_AGAIN_AFTER);
    if model.alert == Alert::Off || model.focus == Focus::Here || !is_due {
        return None;
    }
    let is_bad = |line: &&FeedLine| line.now().is_some_and(|now| now.state != State::Match);
    let bad: Vec<&FeedLine> = model.feed.lines().take(fresh).filter(is_bad).collect();
    let (now, first) = bad.first().and_then(|line| Some((line.now()?, *line)))?;
    let count: usize = bad.iter().map(|line| line.count).sum();
    let others = if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
    let single = FeedLine { count: 1, ..first.clone() };
    let message = format!("{}: {} became {}{others}", first.cluster(), single.subject(""), now.verdict);
    model.alerted = Some(model.now);
    Some(TerminalRequest::Alert(model.alert, Printable::line(&message)))
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};
    use ratatui::layout::Rect;

    use super::*;
    use crate::console::event::{Event, What};
    use crate::console::hits::HitMap;
    use crate::console::model::{CheckSheet, Zone};
    use crate::console::task::TaskReply;
    use crate::console::update::update;
    use trueup_checks::{Cause, CauseObject, CheckDescription, Outline};
    use trueup_core::engine::{CheckName, Glob, Judgement};
    use trueup_core::world::{
        Cluster, ClusterIdentity, ClusterSource, EditedPart, FieldValue, Key, ObjectEdit, RiskClass, Served,
    };

    const CHECK: CheckName = CheckName("toy");

    fn now() -> Timestamp {
        "2026-11-16T10:00:00Z".parse().unwrap()
    }

    fn model() -> Model {
        let mut model = Model::new(now(), Rect::new(0, 0, 120, 40), Zone::Utc);
        model.checks.push(CheckSheet::new(CHECK, CheckDescription::named("toy")));
        model
    }

    fn subject(name: &str) -> SubjectId {
        let (cluster, name) = (ClusterName::new("a"), name.to_owned());
        SubjectId { domain: CHECK, cluster, api_version: "v1", kind: "Secret", namespace: None, name, cloud: None }
    }

    fn held(state: State) -> CurrentJudgement {
        let (codes, verdict) = (vec!["first"], state.as_str());
        let judgement = Judgement { state, verdict, codes, ownership_proofs: 0, until: None };
        CurrentJudgement::new(judgement, now())
    }

    fn rule(finding: &str) -> AcceptRule {
        let (finding, reason) = (Glob::parse(finding).unwrap(), "known".to_owned());
        AcceptRule { finding, reason, until: "2026-11-17".parse().unwrap() }
    }

    fn happens(model: &mut Model, at: Timestamp, what: What) {
        update(model, Event { at, what }, &HitMap::default());
    }

    fn judged(model: &mut Model, names: &[&str], state: State) {
        let findings = names.iter().map(|name| (subject(name), Some(held(state))));
        happens(model, now(), What::Data(Box::new(Update::of(findings))));
    }

    fn reply(model: &mut Model, reply: TaskReply) {
        happens(model, now(), What::TaskReply(Box::new(reply)));
    }

    fn shown(model: &Model, name: &str) -> (State, Vec<&'static str>) {
        let judgement = &model.findings.get(&subject(name)).unwrap().judgement;
        (judgement.state, judgement.codes.clone())
    }

    fn linked(model: &mut Model, link: Link, names: &[&str], state: State) {
        let mut update = Update::of(names.iter().map(|name| (subject(name), Some(held(state)))));
        let name = ClusterName::new("a");
        let (source, served) = (ClusterSource::Snapshot, Served::Recorded(BTreeSet::new()));
        let (class, identity) = (RiskClass::Prod, ClusterIdentity::default());
        let cluster = Cluster { name: name.clone(), class, source, hosted_by: None, link, identity, served };
        update.clusters.insert(name, Some(cluster));
        happens(model, now(), What::Data(Box::new(update)));
    }

    #[test]
    fn an_unfocused_user_is_alerted_once_when_a_verdict_gets_worse() {
        let live = || Link::Live { since: now() };
        let calls = |alert: Alert, focus: Focus, later: i64, state: State| {
            let mut model = model();
            linked(&mut model, live(), &["x", "y"], State::Match);
            (model.alert, model.focus, model.alerted) = (alert, focus, Some(now()));
            let findings = ["x", "y"].map(|name| (subject(name), Some(held(state))));
            let data = What::Data(Box::new(Update::of(findings)));
            let at = now() + SignedDuration::from_secs(later);
            update(&mut model, Event { at, what: data }, &HitMap::default()).terminal
        };
        let call = TerminalRequest::Alert(Alert::Bell, Printable::line("a: Secret y became drift, and 1 more"));
        assert_eq!(calls(Alert::Bell, Focus::Elsewhere, 60, State::Drift), [call]);
        for (case, alert, focus, later, state) in [
            ("switched off", Alert::Off, Focus::Elsewhere, 60, State::Drift),
            ("looked at", Alert::Bell, Focus::Here, 60, State::Drift),
            ("right after", Alert::Bell, Focus::Elsewhere, 59, State::Drift),
            ("nothing changed", Alert::Bell, Focus::Elsewhere, 60, State::Match),
        ] {
            assert_eq!(calls(alert, focus, later, state), [], "case: {case}");
        }
    }

    #[test]
    fn the_first_list_is_not_news_and_later_changes_are() {
        let mut model = model();
        let live = Link::Live { since: now() };
        linked(&mut model, Link::Listing { objects: 100 }, &["x"], State::Unknown);
        linked(&mut model, live.clone(), &["x", "y"], State::Match);
        assert_eq!(model.feed.lines().count(), 0, "the rest of the list");
        linked(&mut model, live, &["x"], State::Extra);
        let news: Vec<String> = model.feed.lines().map(|line| line.subject("")).collect();
        assert_eq!(news, ["Secret x"]);
    }

    #[test]
    fn findings_that_follow_from_one_edit_are_one_entry_and_the_cause_of_their_cluster() {
        let mut model = model();
        let live = Link::Live { since: now() };
        linked(&mut model, Link::Listing { objects: 1 }, &["x", "y"], State::Match);
        linked(&mut model, live, &["x", "y"], State::Match);
        let (cluster, key) = (ClusterName::new("mgmt"), Key::new(None, "checkout"));
        let object = CauseObject { check: CHECK, cluster: cluster.clone(), kind: "HostedCluster", key: key.clone() };
        let cause = Cause {
            object,
            effect: "orphans",
            reason: "".into(),
            written: None,
            form: trueup_checks::CauseForm::Effect,
        };
        let outline = Some(Arc::new(Outline::default().with_cause(Some(cause))));
        let orphan = CurrentJudgement { outline, ..held(State::Extra) };
        let mut update = Update::of(["x", "y"].map(|name| (subject(name), Some(orphan.clone()))));
        let value = |count| FieldValue::Entries { count, hash: u64::from(count) };
        let change = EditedPart::Field { name: "oidcProviders", from: value(3), to: value(1) };
        let by = Some("hypershift-cli".into());
        update.edits = vec![Arc::new(ObjectEdit { cluster, kind: "HostedCluster", key, change, at: now(), by })];
        happens(&mut model, now(), What::Data(Box::new(update)));
        let news: Vec<(String, String)> =
            model.feed.lines().map(|line| (line.subject("copies"), line.detail("→"))).collect();
        assert_eq!(news, [("2 copies".to_owned(), "oidcProviders 3 → 1  by hypershift-cli".to_owned())]);
        let sentence = "2 orphans: HostedCluster checkout edited 10:00:00 by hypershift-cli, oidcProviders 3 → 1";
        assert_eq!(model.largest_cause(&ClusterName::new("a")), Some((sentence.to_owned(), Some(now()))));
    }

    #[test]
    fn an_accepted_finding_is_a_match_in_every_count() {
        let mut model = model();
        judged(&mut model, &["x", "y"], State::Extra);
        reply(&mut model, TaskReply::Acceptances { rules: vec![rule(&subject("x").to_string())] });
        assert_eq!(shown(&model, "x"), (State::Match, vec!["first", ACCEPTED]));
        assert_eq!(shown(&model, "y"), (State::Extra, vec!["first"]));
        assert_eq!(model.findings.counts_of(CHECK).differences(), 1);
        judged(&mut model, &["x"], State::Drift);
        assert_eq!(shown(&model, "x"), (State::Match, vec!["first", ACCEPTED]), "judged again");
        judged(&mut model, &["x"], State::Match);
        assert_eq!(shown(&model, "x"), (State::Match, vec!["first"]), "a match without the rule");
    }

    #[test]
    fn an_accepted_finding_is_shown_again_when_its_rule_is_removed_or_ends() {
        let mut model = model();
        judged(&mut model, &["x"], State::Extra);
        let rules = vec![rule("toy/*")];
        reply(&mut model, TaskReply::Acceptances { rules: rules.clone() });
        reply(&mut model, TaskReply::Acceptances { rules: Vec::new() });
        assert_eq!(shown(&model, "x"), (State::Extra, vec!["first"]), "rule removed");
        reply(&mut model, TaskReply::Acceptances { rules });
        let last = now() + SignedDuration::from_hours(37);
        happens(&mut model, last, What::Time);
        assert_eq!(shown(&model, "x").0, State::Match, "in its last hour");
        happens(&mut model, last + SignedDuration::from_hours(1), What::Time);
        assert_eq!(shown(&model, "x"), (State::Extra, vec!["first"]), "its last day is over");
    }
}
