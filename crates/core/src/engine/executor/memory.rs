//! The memory of attached tags: once a change of user tags is verified, the annotation that remembers them is written.
//!
//! Invariants:
//! - what is written is what the annotation holds now with this change: a list of another resource is never lost;
//! - it is written under the version that was read, and read again on a conflict;
//! - a failure leaves the tags as they are, and is reported.

use std::collections::{BTreeMap, BTreeSet};

use super::in_flight::journal_intents;
use super::ports::{ClusterPort, Reading, Reply, Seen};
use super::prepared_write::PreparedWrite;
use super::read::read;
use super::ready::Ready;
use super::report::{ActionResult, Halt};
use super::run::Run;
use crate::engine::journal::{Answer, Record, VerifiedState, memory_of};
use crate::engine::{Action, Change, MetadataChange, Preconditions, Remember, TagChange, Undo};

/// Requests under a version that another writer may move.
const TRIES_MAX: u32 = 4;

/// How one attempt ended.
enum Attempt {
    Written,
    /// Another writer was first.
    Conflict,
    Failed(String),
}

impl Run<'_, '_> {
    /// Writes down which tags an action attached or detached.
    pub(super) async fn remember_tags(&mut self, action: &Action, end: &ActionResult) -> Result<(), Halt> {
        let is_done = matches!(end, ActionResult::Done(_));
        let Some((change, remember)) = remembered(&action.change).filter(|_| is_done) else { return Ok(()) };
        let Some(port) = self.ports.clusters.get(&remember.cluster).cloned() else {
            self.not_remembered(action, &format!("{} is not connected", remember.cluster));
            return Ok(());
        };
        for _ in 0..TRIES_MAX {
            match self.write_memory(port.as_ref(), action, change, remember).await? {
                Attempt::Written => return Ok(()),
                Attempt::Conflict => {}
                Attempt::Failed(why) => {
                    self.not_remembered(action, &why);
                    return Ok(());
                }
            }
        }
        self.not_remembered(action, "another writer changed the object each time");
        Ok(())
    }

    fn not_remembered(&mut self, action: &Action, why: &str) {
        self.report.notices.push(format!("{}: tags attached, not remembered: {why}", action.id));
    }

    async fn write_memory(
        &mut self,
        port: &dyn ClusterPort,
        action: &Action,
        change: &TagChange,
        remember: &Remember,
    ) -> Result<Attempt, Halt> {
        let clock = self.ports.clock;
        let seen = match read(port, clock, &remember.object).await {
            Reading::Present(seen) => seen,
            Reading::Absent => return Ok(Attempt::Failed("the object is gone".to_owned())),
            Reading::Unknown(why) => return Ok(Attempt::Failed(why)),
        };
        if remember.object.uid.as_ref().is_some_and(|uid| *uid != seen.uid) {
            return Ok(Attempt::Failed("the object was deleted and created again".to_owned()));
        }
        let held = seen.annotations.get(&remember.annotation);
        let text = after(change, remember, held.map(String::as_str));
        if held.is_some_and(|held| *held == text) {
            return Ok(Attempt::Written);
        }
        let memory = memory_action(action, remember, text, &seen);
        let write = match PreparedWrite::of(&memory, &self.report.plan, None, self.ports.vault) {
            Ok(write) => write,
            Err(end) => return Ok(Attempt::Failed(end.why().to_owned())),
        };
        let mut ready = Ready::new(&memory, write, clock.now());
        ready.remember_before(&seen);
        let attempts = self.attempts.entry(memory.id.clone()).or_default();
        *attempts += 1;
        ready.attempt = *attempts;
        let intent = [ready.intent(&self.report.plan, clock.now())];
        let tokens = journal_intents(self.ports.journal, &intent).map_err(Halt::Journal)?;
        let token = tokens.first().expect("one intent gives one token");
        let reply = port.send(token, ready.write()).await;
        self.end_of_memory(port, &ready, &reply).await
    }

    /// Journals the answer and what a read says of it.
    async fn end_of_memory(
        &mut self,
        port: &dyn ClusterPort,
        ready: &Ready<'_>,
        reply: &Reply,
    ) -> Result<Attempt, Halt> {
        let clock = self.ports.clock;
        let (plan, action) = (self.report.plan.clone(), ready.action.id.clone());
        let (attempt, http, what, at) = (ready.attempt, reply.http, reply.answer, clock.now());
        self.write(&[Record::Outcome { plan: plan.clone(), action: action.clone(), attempt, http, what, at }])?;
        let reading = read(port, clock, &ready.action.target).await;
        // A teardown detaches tags while the cluster's object is being deleted.
        let is_written = ready.write.is_written(&ready.action.target.kind, &reading);
        let (state, why, ended) = match reply.answer {
            _ if is_written => (VerifiedState::Changed, String::new(), Attempt::Written),
            Answer::Conflict | Answer::Throttled => {
                let why = "another writer was first".to_owned();
                (VerifiedState::Failed, why, Attempt::Conflict)
            }
            Answer::Done | Answer::Gone | Answer::Ambiguous => {
                let why = "the annotation does not hold what was sent".to_owned();
                (VerifiedState::Unknown, why.clone(), Attempt::Failed(why))
            }
            Answer::Refused => {
                let why = match reply.http {
                    Some(status) => format!("the API server refused it ({status})"),
                    None => "the API server refused it".to_owned(),
                };
                (VerifiedState::Failed, why.clone(), Attempt::Failed(why))
            }
        };
        self.write(&[Record::Verified { plan, action, state, why, version: None, at: clock.now() }])?;
        Ok(ended)
    }
}

/// The change of tags that an action remembers; nothing for an action that remembers none.
fn remembered(change: &Change) -> Option<(&TagChange, &Remember)> {
    match change {
        Change::Tag(change) | Change::Untag(change) | Change::ReOwn(change) => {
            change.remember.as_ref().map(|remember| (change, remember))
        }
        Change::Delete
        | Change::Label(_)
        | Change::Annotate(_)
        | Change::Create(_)
        | Change::Update(_)
        | Change::Apply(_)
        | Change::CreateFromBackup(_)
        | Change::UpdateFromBackup(_)
        | Change::ApplyFromBackup(_)
        | Change::Patch(_) => None,
    }
}

/// What the annotation holds after a change of tags: what it holds now, with these attached and those detached.
fn after(change: &TagChange, remember: &Remember, held: Option<&str>) -> String {
    let read = held.and_then(|text| serde_json::from_str::<BTreeMap<String, Vec<String>>>(text).ok());
    let mut all = read.unwrap_or_else(|| converted(remember, held));
    for id in remember.tags.keys() {
        let mut tags: BTreeSet<String> = all.remove(id).unwrap_or_default().into_iter().collect();
        tags.extend(change.set.iter().cloned());
        tags.retain(|tag| !change.remove.contains(tag));
        if !tags.is_empty() {
            all.insert(id.clone(), tags.into_iter().collect());
        }
    }
    serde_json::to_string(&all).expect("texts are JSON")
}

/// An older list, resource by resource: the plan says which of its tags each resource keeps. A plan adds none.
fn converted(remember: &Remember, held: Option<&str>) -> BTreeMap<String, Vec<String>> {
    let list: Vec<String> = held.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let list: BTreeSet<String> = list.iter().map(|tag| tag.to_lowercase()).collect();
    let kept = |(id, tags): (&String, &Vec<String>)| {
        let tags: Vec<String> = tags.iter().filter(|tag| list.contains(*tag)).cloned().collect();
        (!tags.is_empty()).then(|| (id.clone(), tags))
    };
    remember.converted.iter().chain(&remember.tags).filter_map(kept).collect()
}

/// The write of the annotation, as an action of the same plan.
fn memory_action(action: &Action, remember: &Remember, text: String, seen: &Seen) -> Action {
    let set = [(remember.annotation.clone(), text)].into();
    Action {
        id: memory_of(&action.id),
        cluster: remember.cluster.clone(),
        change: Change::Annotate(MetadataChange { set, remove: Vec::new() }),
        target: remember.object.clone(),
        preconditions: Preconditions {
            uid: Some(seen.uid.clone()),
            resource_version: Some(seen.resource_version.clone()),
            ..Preconditions::default()
        },
        undo: Undo::RemoveWhatWasAdded,
        ..action.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ObjectRef;

    fn remember(converted: &[(&str, &[&str])], planned: &[&str]) -> Remember {
        let list = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        Remember {
            cluster: "mgmt".to_owned(),
            object: ObjectRef {
                api_version: "v1".to_owned(),
                kind: "IBMPowerVSCluster".to_owned(),
                namespace: None,
                name: "demo".to_owned(),
                uid: None,
                cloud: None,
            },
            annotation: "trueup/attached-tags".to_owned(),
            tags: [("vpc".to_owned(), list(planned))].into(),
            converted: converted.iter().map(|(id, tags)| ((*id).to_owned(), list(tags))).collect(),
        }
    }

    #[test]
    fn the_memory_is_what_is_there_now_with_this_change() {
        let on = TagChange { set: vec!["env:prod".to_owned()], ..TagChange::default() };
        let off = TagChange { remove: vec!["env:prod".to_owned()], ..TagChange::default() };
        let cases = [
            ("nothing yet", &on, remember(&[], &["env:prod"]), None, r#"{"vpc":["env:prod"]}"#),
            (
                "another resource's list stays",
                &on,
                remember(&[], &["env:prod"]),
                Some(r#"{"ws":["a"],"vpc":["b"]}"#),
                r#"{"vpc":["b","env:prod"],"ws":["a"]}"#,
            ),
            (
                "an older list is replaced by one for each resource",
                &on,
                remember(&[("ws", &["a"])], &["a", "env:prod"]),
                Some(r#"["a"]"#),
                r#"{"vpc":["a","env:prod"],"ws":["a"]}"#,
            ),
            (
                "a list that was replaced meanwhile counts as it is",
                &on,
                remember(&[("ws", &["a"])], &["a", "env:prod"]),
                Some(r#"{"ws":["c"]}"#),
                r#"{"vpc":["env:prod"],"ws":["c"]}"#,
            ),
            (
                "what came off is forgotten, and an empty list with it",
                &off,
                remember(&[], &[]),
                Some(r#"{"vpc":["env:prod"]}"#),
                "{}",
            ),
            (
                "a plan adds nothing to an older list",
                &on,
                remember(&[("ws", &["a", "theirs"])], &["a", "env:prod", "theirs"]),
                Some(r#"["a"]"#),
                r#"{"vpc":["a","env:prod"],"ws":["a"]}"#,
            ),
            ("no JSON", &on, remember(&[], &["env:prod"]), Some("{"), r#"{"vpc":["env:prod"]}"#),
        ];
        for (case, change, remember, held, expected) in cases {
            assert_eq!(after(change, &remember, held), expected, "case: {case}");
        }
    }
}
