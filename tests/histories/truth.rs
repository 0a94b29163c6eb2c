//! What must hold whenever an engine writes, checked where the write arrives and where it takes effect.
//!
//! Checked at every request that writes: an approved action, no gate shut before, an intent safe on the disk for each.
//! Checked at every effect: the object is the one that was shown (uid, version, content), its backup is safe on the disk,
//! no reference that could be seen when it was judged still stands, and nothing else was touched.

use serde_json::{Value, json};
use trueup_core::engine::Verb;
use trueup_core::world::CollectionId;
use trueup_sim::Request;

use super::configuration::Approval;
use super::injected_fault::{Asked, Written};
use super::kind::Kind;
use super::standing::{Meant, Phase};
use super::world::{APPS, CONFIG, COPIED, MARK, Site, Target, World};

/// Clusters with more managed objects than this have a brake at half of them.
pub const MANAGED_MIN: usize = 10;

/// The object a write is about, just before it arrives.
pub struct Scene {
    before: Option<Value>,
    /// It went to the cluster the plan was made for.
    at_home: bool,
}

/// What of an object is shown in a plan and may not differ.
pub fn content(object: &Value) -> Value {
    let metadata = &object["metadata"];
    json!({ "labels": metadata["labels"], "annotations": metadata["annotations"], "data": object["data"] })
}

/// Whether an action may not be sent while a collection is not known: the list of its target; for a delete the referrers of
/// every cluster, for a copy its source. An undo rests on no list.
fn rests_on(meant: &Meant, id: &CollectionId) -> bool {
    let is_of_cluster = Site::of(id.cluster.as_str()) == meant.target.site;
    match id.namespace().map(|namespace| namespace.as_str()) {
        _ if meant.undoes.is_some() => false,
        Some(CONFIG) => is_of_cluster && id.resource.kind == meant.target.kind(),
        Some(APPS) => meant.verb == Verb::Delete,
        Some(_) | None => is_of_cluster && meant.verb == Verb::Update,
    }
}

impl World {
    /// A request that writes leaves an engine.
    pub fn check_send(&mut self, who: usize, site: usize, request: &Request) {
        let Asked::Write { verb, target } = Asked::of(site, request) else { return };
        let what = || format!("{} {}", request.method, request.target());
        let standing = &self.engines[who];
        if standing.phase != Phase::Applying {
            return self.broke(|| format!("{} while nothing may be written", what()));
        }
        if standing.shut_before {
            return self.broke(|| format!("{} although a switch, a stop or the plan's end was there before", what()));
        }
        let Some((action, meant)) = standing.meant(&target) else {
            return self.broke(|| format!("{}, which was not approved", what()));
        };
        let (action, meant) = (action.clone(), meant.clone());
        if let Some(why) = self.refusal(who, &meant, verb) {
            return self.broke(|| format!("{} although {why}", what()));
        }
        let expected = match (verb, meant.verb) {
            (Written::Delete, Verb::Delete) => Verb::Delete,
            (Written::Label, Verb::Label) => Verb::Label,
            (Written::Copy, Verb::Update) => Verb::Update,
            (Written::Create, Verb::Delete | Verb::Create) => Verb::Create,
            _ => return self.broke(|| format!("{}, and the plan says {}", what(), meant.verb.as_str())),
        };
        let durable = standing.durable_intents(&action, expected);
        let deeds = self.engines[who].deeds.entry(action).or_default();
        deeds.sent_in_run += 1;
        let sent = match expected {
            Verb::Create => &mut deeds.created_sent,
            _ => &mut deeds.sent,
        };
        *sent += 1;
        let sent = *sent;
        if sent > durable {
            self.broke(|| format!("{}: request {sent}, and {durable} intents are safe on the disk", what()));
        }
    }

    /// Why an approved action may not be sent; nothing when it may.
    fn refusal(&self, who: usize, meant: &Meant, written: Written) -> Option<String> {
        let standing = &self.engines[who];
        let plan = standing.plan.as_ref()?;
        if let Some(gate) = meant.forbidden {
            return Some(format!("the gate {gate} is shut"));
        }
        if plan.is_refused {
            return Some("the file may not be applied".to_owned());
        }
        let needs = if plan.is_foreign { Approval::Confirmed } else { meant.needs };
        if plan.approval < needs {
            return Some(format!("{:?} is too little approval", plan.approval));
        }
        let site = meant.target.site;
        // A deleted object is restored because a reference was read; that another list did not arrive changes nothing.
        let restores = written == Written::Create && meant.verb == Verb::Delete;
        if !restores && standing.late.iter().any(|late| rests_on(meant, late)) {
            return Some("a list it rests on did not arrive".to_owned());
        }
        let managed = plan.managed.get(&site).copied().unwrap_or(0);
        // Others may have changed what is managed by a few since it was counted.
        let is_over = managed > MANAGED_MIN + 1 && standing.deletes_in_run(site) * 2 > managed + 3;
        (meant.verb == Verb::Delete && is_over).then(|| format!("more than half of {managed} objects are deleted"))
    }

    /// Looks at what a write is about, before it arrives.
    pub fn before_write(&mut self, site: usize, asked: &Asked) -> Option<Scene> {
        let Asked::Write { target, .. } = asked else { return None };
        let before = self.sites[site].answering().object("v1", target.kind(), &target.key()).ok();
        Some(Scene { before, at_home: !self.sites[site].swapped })
    }

    /// Looks at what a write did.
    pub fn after_write(&mut self, who: usize, asked: &Asked, scene: Option<Scene>) {
        let (Asked::Write { verb, target }, Some(scene)) = (asked, scene) else { return };
        let after = self.sites[target.site].answering().object("v1", target.kind(), &target.key()).ok();
        if scene.before == after {
            return;
        }
        // Nothing binds a create to its cluster: between the look at who it is and the request, it may become another.
        if !scene.at_home && *verb == Written::Create && !self.engines[who].saw_other {
            return;
        }
        if !scene.at_home {
            return self.broke(|| format!("{} was changed in another cluster than the plan's", target.name));
        }
        let Some((action, meant)) = self.engines[who].meant(target) else {
            return self.broke(|| format!("{} was changed, which was not approved", target.name));
        };
        let (action, meant) = (action.clone(), meant.clone());
        if let Some(undone) = &meant.undoes {
            return self.after_undo(who, &action, &meant, undone, (scene.before, after));
        }
        match verb {
            Written::Delete => self.after_delete(who, &action, &meant, scene.before),
            Written::Label => self.after_label(who, &action, &meant, scene.before, after),
            Written::Copy => self.after_copy(who, &action, &meant, scene.before, after),
            Written::Create => self.after_create(who, &action, &meant, after),
            Written::Other => self.broke(|| format!("{} was changed by an unknown request", target.name)),
        }
    }

    fn after_delete(&mut self, who: usize, action: &str, meant: &Meant, before: Option<Value>) {
        let name = &meant.target.name;
        let Some(before) = before else { return };
        self.check_same(meant, &before, "deleted");
        self.note_delete(&meant.target, &before, &meant.uid, &meant.shown);
        self.check_backup(who, action, name, &before, "deleted");
        if let Some(looked) = self.engines[who].judged.get(&meant.target).copied() {
            let stood = looked.honest && looked.referenced && looked.changes == self.reference_changes(&meant.target);
            if stood && self.is_referenced(&meant.target) {
                self.broke(|| format!("{name} was deleted, and a reference to it could be seen when it was judged"));
            }
        } else {
            self.broke(|| format!("{name} was deleted without having been judged again"));
        }
        let now = self.now();
        let deeds = self.engines[who].deeds.entry(action.to_owned()).or_default();
        (deeds.deleted, deeds.deleted_in_run, deeds.deleted_at) = (true, true, Some(now));
    }

    fn after_label(&mut self, who: usize, action: &str, meant: &Meant, before: Option<Value>, after: Option<Value>) {
        let (Some(before), Some(after)) = (before, after) else { return };
        self.check_same(meant, &before, "labelled");
        let mut expected = content(&before);
        expected["labels"][MARK] = "yes".into();
        if content(&after) != expected {
            self.broke(|| format!("{} was changed otherwise than the plan says", meant.target.name));
        }
        self.engines[who].deeds.entry(action.to_owned()).or_default().changed = true;
    }

    fn after_copy(&mut self, who: usize, action: &str, meant: &Meant, before: Option<Value>, after: Option<Value>) {
        let (Some(before), Some(after)) = (before, after) else { return };
        let name = &meant.target.name;
        self.check_same(meant, &before, "copied");
        let mut expected = content(&before);
        expected["labels"][MARK] = "yes".into();
        expected["data"][COPIED] = meant.copied.clone();
        if content(&after) != expected {
            self.broke(|| format!("{name} got another content than its source had when the plan was made"));
        }
        self.check_backup(who, action, name, &before, "overwritten");
        self.fire(Kind::Copied);
        let version = after["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        self.engines[who].left.insert(action.to_owned(), version);
        self.engines[who].deeds.entry(action.to_owned()).or_default().changed = true;
    }

    fn check_backup(&mut self, who: usize, action: &str, name: &str, before: &Value, done: &str) {
        let backed = self.engines[who]
            .durable_backups(action)
            .iter()
            .any(|sealed| sealed["metadata"]["uid"] == before["metadata"]["uid"] && content(sealed) == content(before));
        if !backed {
            self.broke(|| format!("{name} was {done}, and no backup of it is on record"));
        }
    }

    fn after_create(&mut self, who: usize, action: &str, meant: &Meant, after: Option<Value>) {
        let name = &meant.target.name;
        let standing = &self.engines[who];
        let known = standing.durable_backups(action);
        let same = after.as_ref().is_some_and(|after| known.iter().any(|sealed| sealed["data"] == after["data"]));
        if !same {
            self.broke(|| format!("{name} came back, and not as it was"));
        }
        let deeds = self.engines[who].deeds.entry(action.to_owned()).or_default();
        deeds.restored = true;
        self.restored.insert(meant.target.clone());
        let deeds = self.engines[who].deeds.entry(action.to_owned()).or_default();
        if deeds.created_sent == 0 {
            self.broke(|| format!("{name} was created without a request"));
        }
    }

    fn check_same(&mut self, meant: &Meant, before: &Value, done: &str) {
        let name = &meant.target.name;
        let found = |field: &str| before["metadata"][field].as_str().unwrap_or_default().to_owned();
        if found("uid") != meant.uid {
            return self.broke(|| format!("{name} was {done}, and it is another object than the one that was shown"));
        }
        if found("resourceVersion") != meant.resource_version {
            return self.broke(|| format!("{name} was {done}, and it had changed since it was shown"));
        }
        if content(before) != meant.shown {
            self.broke(|| format!("{name} was {done}, and its content is not the one that was shown"));
        }
    }

    /// Notes what can be seen of the references to these targets now.
    pub fn references_now(&self, target: &Target) -> (bool, u32) {
        (self.is_referenced(target), self.reference_changes(target))
    }
}
