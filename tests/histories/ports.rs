//! The rest of what an engine touches: time, switches, the journal and the vault, each of which may fail.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;
use trueup_core::engine::executor::{ExecutorClock, JournalPort, Switches, VaultPort};
use trueup_core::engine::journal::{Journal, Record};
use trueup_core::engine::vault::{Sealed, owners, restorable};
use trueup_core::engine::{Blocked, GateName, ObjectRef};
use zeroize::Zeroizing;

use super::kind::Kind;
use super::world::Shared;

/// How often the process ends inside an append when it ends at one, in a thousand.
const DIES_INSIDE: u32 = 500;

/// One engine's hold on the world.
#[derive(Clone)]
pub struct Hold {
    pub shared: Shared,
    pub who: usize,
}

impl ExecutorClock for Hold {
    fn now(&self) -> Timestamp {
        self.shared.lock().engine_now()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        async move {
            tokio::time::sleep(span).await;
            let mut world = self.shared.lock();
            world.deliver_late();
            if world.rng.permille(100) {
                world.others_move();
            }
            world.came_back(self.who);
        }
        .boxed()
    }
}

impl Switches for Hold {
    fn shut(&self, now: Timestamp) -> Option<Blocked> {
        let world = self.shared.lock();
        if world.switched {
            return Some(Blocked { gate: GateName::KillSwitch, why: "it is there".to_owned() });
        }
        let frozen = world.freeze.as_ref().is_some_and(|window| window.contains(now));
        frozen.then(|| Blocked { gate: GateName::Freeze, why: "the window is on".to_owned() })
    }
}

impl VaultPort for Hold {
    fn seal(&self, object: &Zeroizing<Vec<u8>>) -> Result<Sealed, String> {
        let mut world = self.shared.lock();
        if world.engines[self.who].seal_fails {
            return Err("no space left".to_owned());
        }
        let vault = &mut world.engines[self.who].vault;
        vault.push(object.to_vec());
        let file = (vault.len() - 1).to_string();
        Ok(Sealed { digest: format!("sha256:{file}"), file })
    }

    fn open(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        let world = self.shared.lock();
        let object = sealed_object(&world.engines[self.who].vault, file)?;
        Ok(Zeroizing::new(object.to_string().into_bytes()))
    }

    fn restorable(&self, file: &str, mark: &str, owners: &BTreeSet<String>) -> Result<Zeroizing<Vec<u8>>, String> {
        let mut world = self.shared.lock();
        if world.faults.write_faults > 0 && !world.resting && world.rng.permille(100) {
            world.fire(Kind::OpenFails);
            return Err("it can't be opened".to_owned());
        }
        let object = sealed_object(&world.engines[self.who].vault, file)?;
        Ok(Zeroizing::new(restorable(object, owners, mark).to_string().into_bytes()))
    }

    fn owners(&self, file: &str) -> Result<Vec<ObjectRef>, String> {
        let world = self.shared.lock();
        Ok(owners(&sealed_object(&world.engines[self.who].vault, file)?))
    }
}

fn sealed_object(vault: &[Vec<u8>], file: &str) -> Result<Value, String> {
    let sealed = file.parse().ok().and_then(|place: usize| vault.get(place));
    let object = sealed.and_then(|bytes| serde_json::from_slice(bytes).ok());
    object.ok_or_else(|| "there is no such backup".to_owned())
}

/// The real journal, with a note of everything that went into it.
pub struct NotedJournal {
    pub hold: Hold,
    pub journal: Journal,
}

impl JournalPort for NotedJournal {
    fn append(&mut self, records: &[Record]) -> Result<(), String> {
        let Hold { shared, who } = &self.hold;
        let disk = {
            let mut world = shared.lock();
            let disk = world.engines[*who].disk.clone();
            if world.ends_here(*who) {
                if world.engines[*who].crash_at == Some(world.engines[*who].steps) && world.rng.permille(DIES_INSIDE) {
                    disk.die_after(world.rng.below(900));
                    drop(world);
                    let _ = self.journal.append(records);
                }
                return Err("the process has ended".to_owned());
            }
            disk
        };
        let appended = self.journal.append(records);
        let mut world = shared.lock();
        let name = world.engines[*who].name;
        world.tell(name, || {
            let words: Vec<&str> = records.iter().map(as_str).collect();
            let came = appended.as_ref().err().map(|error| format!(" → {error}")).unwrap_or_default();
            format!("journal: {}{came}", words.join(" "))
        });
        appended.map_err(|error| error.to_string())?;
        let end = disk.length();
        world.engines[*who].noted.extend(records.iter().map(|record| (end, record.clone())));
        if world.ends_here(*who) { Err("the process has ended".to_owned()) } else { Ok(()) }
    }
}

pub fn as_str(record: &Record) -> &'static str {
    match record {
        Record::PlanApproved { .. } => "approved",
        Record::Backup { .. } => "backup",
        Record::Intent { .. } => "intent",
        Record::Outcome { .. } => "outcome",
        Record::Verified { .. } => "verified",
        Record::Resolved { .. } => "resolved",
        Record::Finished { .. } => "finished",
        Record::Skipped { .. } => "skipped",
        Record::Restarted { .. } => "restarted",
    }
}
