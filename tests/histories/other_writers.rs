//! Other writers: people and controllers who change the same clusters, and the garbage collector.
//!
//! Invariants: an engine learns of their writes by reading, or not at all.

use jiff::SignedDuration;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use trueup_sim::Server;

use super::configuration::all_week;
use super::kind::Kind;
use super::seeded_rng::SeededRng;
use super::world::{CONFIG, COPIED, MADE_BY, OURS, OWNER_LABEL, SOURCE, SOURCES, Site, Target, WANTS, World};

const FINALIZER: &str = "example.com/hold";

/// Who claims an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Both proofs.
    Ours,
    /// The label alone, as a copy has it.
    LookAlike,
    Foreign,
}

/// A candidate as it is created.
pub fn object(target: &Target, claim: Claim, data: u64) -> Value {
    let labels = match claim {
        Claim::Ours | Claim::LookAlike => json!({ OWNER_LABEL: OURS }),
        Claim::Foreign => json!({ "app": "other" }),
    };
    let annotations = match claim {
        Claim::Ours => json!({ MADE_BY: OURS }),
        Claim::LookAlike | Claim::Foreign => json!({}),
    };
    // `AAAA` and the like are base64 of something, whatever it is.
    let data = json!({ "value": format!("{:04}", data % 10_000) });
    json!({ "apiVersion": "v1", "kind": target.kind(), "data": data,
        "metadata": { "name": target.name, "namespace": CONFIG, "labels": labels, "annotations": annotations } })
}

impl World {
    /// Lets another writer act, perhaps.
    pub fn others_move(&mut self) {
        if !self.resting && self.rng.permille(self.faults.moves) {
            self.move_once();
        }
    }

    /// Another writer acts once.
    pub fn move_once(&mut self) {
        let place = self.rng.below(self.candidates.len());
        let Some(target) = self.candidates.get(place).cloned() else { return };
        match self.rng.below(15) {
            0 | 1 => self.recreate(&target),
            2 => self.change(&target, Kind::Relabelled, |object| {
                object["metadata"]["labels"] = json!({ "app": "other" });
            }),
            3 | 4 => {
                let data = self.rng.draw() % 10_000;
                self.change(&target, Kind::Edited, |object| object["data"] = json!({ "value": format!("{data:04}") }));
            }
            5..=7 => self.refer(&target),
            8 => self.unrefer(&target),
            9 => self.change(&target, Kind::FinalizerAdded, |object| {
                if object["metadata"]["deletionTimestamp"].is_null() {
                    object["metadata"]["finalizers"] = json!([FINALIZER]);
                }
            }),
            10 => self.release(&target),
            11 => self.copy_mark(target.site),
            12 => self.delete(&target),
            13 => self.edit_source(target.site),
            _ => self.collect(target.site),
        }
    }

    /// What befalls the run as a whole.
    pub fn incident(&mut self) {
        let Some(kind) = self.faults.incident else { return };
        let seconds = 10 + i64::try_from(self.rng.below(200)).expect("a small number");
        match kind {
            Kind::KillSwitch => self.switched = true,
            Kind::Frozen => {
                self.freeze = Some(all_week());
            }
            Kind::Stopped => self.engines[0].stop.store(true, Ordering::SeqCst),
            Kind::Expired => self.jump(SignedDuration::from_mins(16)),
            Kind::IdentitySwapped => self.swap(),
            Kind::ClockForward => self.jump(SignedDuration::from_secs(seconds)),
            Kind::ClockBack => self.jump(SignedDuration::from_secs(-seconds)),
            Kind::DiskFull => {
                let capacity = self.rng.below(900);
                self.engines[0].disk.fill_up(capacity);
            }
            Kind::DiskBroken => self.engines[0].disk.break_sync(),
            Kind::SealFails => self.engines[0].seal_fails = true,
            _ => return,
        }
        self.fire(kind);
        self.tell("world", || kind.as_str().to_owned());
    }

    /// Another cluster stands behind the address: with objects of the same names and versions, as clusters made alike have
    /// them. Only their uids tell them apart.
    fn swap(&mut self) {
        let place = self.rng.below(self.sites.len());
        let now = self.now();
        let mut other = Server::new(self.rng.draw(), now);
        let version = |target: &Target| {
            let object = self.look(target)?;
            object["metadata"]["resourceVersion"].as_str()?.parse::<u64>().ok()
        };
        let here = self.candidates.iter().filter(|target| target.site == place);
        let mut alike: Vec<(u64, &Target)> = here.filter_map(|target| Some((version(target)?, target))).collect();
        alike.sort_unstable();
        for (version, target) in alike {
            while other.version() + 1 < version {
                let filler = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "filler" } });
                other.seed(now, filler).expect("a ConfigMap can be put anywhere");
            }
            other.seed(now, object(target, Claim::Ours, 1)).expect("a candidate can be put anywhere");
        }
        self.sites[place].other = Some(other);
        self.sites[place].swapped = true;
    }

    fn recreate(&mut self, target: &Target) {
        let there = self.look(target).is_some();
        let ours_went = self.engines.iter().any(|engine| {
            engine.meant(target).is_some_and(|(id, _)| engine.deeds.get(id).is_some_and(|deeds| deeds.deleted))
        });
        let kind = match (there, ours_went) {
            (true, _) => Kind::Recreated,
            (false, true) => Kind::Fought,
            (false, false) => return,
        };
        let claim = *self.rng.pick(&[Claim::Ours, Claim::Ours, Claim::Foreign]);
        let (now, data) = (self.now(), self.rng.draw());
        let server = &mut self.sites[target.site].server;
        // What is taken away first has a new uid when it comes back.
        if there {
            server.remove("v1", target.kind(), &target.key()).expect("it is there");
        }
        server.seed(now, object(target, claim, data)).expect("a candidate can be put anywhere");
        self.fire(kind);
        self.tell("other", || format!("creates {} again as {claim:?}", target.name));
    }

    fn change(&mut self, target: &Target, kind: Kind, change: impl FnOnce(&mut Value)) {
        let now = self.now();
        let before = self.sites[target.site].server.version();
        let server = &mut self.sites[target.site].server;
        if server.edit(now, "v1", target.kind(), &target.key(), change).is_ok() && server.version() != before {
            self.fire(kind);
            self.tell("other", || format!("{}: {}", target.name, kind.as_str()));
        }
    }

    fn edit_source(&mut self, site: usize) {
        let (now, data) = (self.now(), self.rng.draw() % 10_000);
        let change = |object: &mut Value| object["data"] = json!({ COPIED: format!("{data:04}") });
        let key = format!("{SOURCES}/{SOURCE}");
        if self.sites[site].server.edit(now, "v1", "Secret", &key, change).is_ok() {
            self.fire(Kind::SourceEdited);
            self.tell("other", || format!("the source of {} becomes {data:04}", Site::name(site)));
        }
    }

    fn refer(&mut self, target: &Target) {
        let place = self.rng.below(self.sites.len());
        let name = format!("r-{}", self.rng.below(2));
        let named = self.referrers.entry((place, name.clone())).or_default();
        if named.insert(target.clone()) {
            *self.reference_changes.entry(target.clone()).or_default() += 1;
            self.put_referrer(place, &name);
            self.fire(Kind::Referenced);
            self.tell("other", || format!("guest-{place}/{name} names {}/{}", target.site, target.name));
        }
    }

    fn unrefer(&mut self, target: &Target) {
        let found = self.referrers.iter().find(|(_, named)| named.contains(target)).map(|(key, _)| key.clone());
        let Some((place, name)) = found else { return };
        if let Some(named) = self.referrers.get_mut(&(place, name.clone())) {
            named.remove(target);
        }
        *self.reference_changes.entry(target.clone()).or_default() += 1;
        self.put_referrer(place, &name);
        self.fire(Kind::Dereferenced);
        self.tell("other", || format!("guest-{place}/{name} names {} no more", target.name));
    }

    /// Takes finalizers off; an object that waited for that goes.
    fn release(&mut self, target: &Target) {
        let Some(found) = self.look(target) else { return };
        if found["metadata"]["finalizers"].is_null() {
            return;
        }
        if found["metadata"]["deletionTimestamp"].is_null() {
            return self.change(target, Kind::FinalizerRemoved, |object| {
                object["metadata"].as_object_mut().expect("an object has metadata").remove("finalizers");
            });
        }
        let server = &mut self.sites[target.site].server;
        server.remove("v1", target.kind(), &target.key()).expect("it is there");
        self.fire(Kind::FinalizerRemoved);
        self.tell("other", || format!("lets {} go", target.name));
    }

    fn copy_mark(&mut self, site: usize) {
        let target = Target { site, name: format!("s-copy{}", self.rng.below(2)) };
        if self.look(&target).is_some() {
            return;
        }
        let (now, data) = (self.now(), self.rng.draw());
        let made = object(&target, Claim::LookAlike, data);
        self.sites[site].server.seed(now, made).expect("a candidate can be put anywhere");
        if !self.candidates.contains(&target) {
            self.candidates.push(target);
        }
        self.fire(Kind::LookAlike);
    }

    fn delete(&mut self, target: &Target) {
        if self.sites[target.site].server.remove("v1", target.kind(), &target.key()).is_ok() {
            self.fire(Kind::DeletedByOther);
            self.tell("other", || format!("deletes {}", target.name));
        }
    }

    fn collect(&mut self, site: usize) {
        let now = self.now();
        let touched = self.sites[site].server.collect_garbage(now);
        if touched > 0 {
            self.fire(Kind::Collected);
            self.tell("gc", || format!("takes {touched} objects of {}", Site::name(site)));
        }
    }

    /// Ends all activity: late requests arrive, garbage is collected, switches are off again.
    pub fn rest(&mut self) {
        self.resting = true;
        self.deliver(|_| true);
        (self.switched, self.freeze, self.late_site) = (false, None, None);
        for place in 0..self.sites.len() {
            self.sites[place].swapped = false;
            let now = self.now();
            while self.sites[place].server.collect_garbage(now) > 0 {}
        }
        for engine in &mut self.engines {
            engine.disk.mend();
            engine.stop.store(false, Ordering::SeqCst);
            (engine.seal_fails, engine.crash_at) = (false, None);
        }
        self.tell("world", || "ends all activity".to_owned());
    }

    /// Fills the clusters.
    pub fn seed_clusters(&mut self, sites: usize, per_site: usize, dependents: bool) {
        let now = self.now();
        for place in 0..sites {
            let mut server = Server::new(self.rng.draw(), now);
            let source = json!({ "apiVersion": "v1", "kind": "Secret", "data": { COPIED: "AAAA" },
                "metadata": { "name": SOURCE, "namespace": SOURCES } });
            server.seed(now, source).expect("a source can be put anywhere");
            self.sites.push(Site { server, other: None, swapped: false, planned_version: 0 });
            self.referrers.insert((place, "anchor".to_owned()), Default::default());
            self.put_referrer(place, "anchor");
            for number in 0..per_site {
                let letter = self.rng.pick(&["s", "s", "m"]);
                let target = Target { site: place, name: format!("{letter}-{number}") };
                self.put_candidate(&target, dependents);
                self.candidates.push(target);
            }
        }
        let referenced = self.rng.below(2);
        for _ in 0..referenced {
            let place = self.rng.below(self.candidates.len());
            let target = self.candidates[place].clone();
            self.refer(&target);
        }
    }

    fn put_candidate(&mut self, target: &Target, dependents: bool) {
        let claim = draw_claim(&mut self.rng);
        let mut made = object(target, claim, self.rng.draw());
        if self.rng.permille(100) {
            made["metadata"]["finalizers"] = json!([FINALIZER]);
        }
        if self.rng.permille(150) {
            made["metadata"]["labels"][WANTS] = "mark".into();
        } else if target.kind() == "Secret" && self.rng.permille(200) {
            made["metadata"]["labels"][WANTS] = "copy".into();
        }
        let now = self.now();
        let server = &mut self.sites[target.site].server;
        let stored = server.seed(now, made).expect("a candidate can be put anywhere");
        if dependents && self.rng.permille(200) {
            let owner = json!({ "apiVersion": "v1", "kind": target.kind(), "name": target.name,
                "uid": stored["metadata"]["uid"] });
            let child = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": {},
                "metadata": { "name": format!("child-{}", target.name), "namespace": "children", "ownerReferences": [owner] } });
            self.sites[target.site].server.seed(now, child).expect("a child can be put anywhere");
        }
    }
}

fn draw_claim(rng: &mut SeededRng) -> Claim {
    *rng.pick(&[Claim::Ours, Claim::Ours, Claim::Ours, Claim::Ours, Claim::LookAlike, Claim::Foreign])
}
