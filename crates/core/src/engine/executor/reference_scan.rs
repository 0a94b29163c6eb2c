//! Reference scan after deletes: reports a new reference, or restores the deleted object.
//!
//! Invariants: an object is restored only to a free name, in the cluster of the plan.

use std::time::Duration;

use zeroize::Zeroizing;

use super::owners::read_owners;
use super::ports::{ClusterPort, Reading, ReferenceScan};
use super::prepared_write::{PreparedWrite, Proof};
use super::read::read;
use super::ready::Ready;
use super::report::{ActionResult, Halt};
use super::run::{OnNewReference, Run};
use crate::engine::journal::VerifiedState;
use crate::engine::vault::Sealed;
use crate::engine::{Action, short_id};

/// Whether a scan found references to deleted objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// Everything was read, and nothing refers to any of them.
    None,
    /// Something refers to one of them, or could not be read.
    Reported,
}

impl<'p> Run<'p, '_> {
    /// Scans for new references, and restores or reports. Waits up to `patience` for a deleted object that still has its
    /// name; with none, the last scan handles it.
    pub(super) async fn scan_references(
        &mut self,
        deleted: &[&'p Action],
        patience: Duration,
    ) -> Result<References, Halt> {
        if deleted.is_empty() {
            return Ok(References::None);
        }
        let found = self.ports.recheck.scan_references(deleted).await;
        let is_unreferenced = found.iter().all(|found| matches!(found, ReferenceScan::Nothing));
        for (action, found) in deleted.iter().zip(found) {
            let name = format!("{} {}", action.target.kind, action.target.name);
            match (found, self.settings.on_new_reference) {
                (ReferenceScan::Nothing, _) => {}
                (ReferenceScan::Unknown(why), _) => {
                    self.notice(format!("references to the deleted {name} are unknown: {why}"));
                }
                (ReferenceScan::Referenced(what), OnNewReference::Report) => {
                    let undo = format!("{}/{}", short_id(&self.report.plan), action.id);
                    self.notice(format!("{name} was deleted, and now {what}; bring it back with trueup undo {undo}"));
                }
                (ReferenceScan::Referenced(what), OnNewReference::Restore) => {
                    self.restore(action, &what, patience).await?
                }
            }
        }
        Ok(if is_unreferenced { References::None } else { References::Reported })
    }

    pub(super) fn notice(&mut self, text: String) {
        if !self.report.notices.contains(&text) {
            self.report.notices.push(text);
        }
    }

    async fn restore(&mut self, action: &'p Action, what: &str, patience: Duration) -> Result<(), Halt> {
        let mark = format!("{}/{}", short_id(&self.report.plan), action.id);
        let port = self.ports.clusters.get(&action.cluster).cloned();
        let (Some(port), Some(backup)) = (port, self.backups.get(&action.id).cloned()) else { return Ok(()) };
        let held = self.is_held(port.as_ref(), action, patience).await;
        if !matches!(held, Ok(false)) {
            if held.is_err() || !patience.is_zero() {
                let name = &action.target.name;
                self.notice(format!(
                    "{name} is being deleted, {what}, and a finalizer holds it: bring it back with trueup undo {mark} when it is gone"
                ));
            }
            return held.map(|_| ());
        }
        let object = match self.restorable(port.as_ref(), action, &backup, &mark).await {
            Ok(object) => object,
            Err(why) => {
                self.notice(format!("{} cannot be restored: {why}", action.target.name));
                return Ok(());
            }
        };
        let ready =
            Ready::new(action, PreparedWrite::Create { object, proof: Proof::Mark(mark) }, self.ports.clock.now());
        let deleted = self.report.ends.get(&action.id).cloned();
        // A create has no uid or version to bind it to this cluster, so the identity is read here.
        let came = match self.check_gates(&action.cluster).await {
            Ok(()) => self.rounds(port.as_ref(), vec![ready]).await,
            Err(halt) => Err(halt),
        };
        let end = self.report.ends.get(&action.id);
        if end == Some(&ActionResult::Done(VerifiedState::Restored)) {
            self.end(action, ActionResult::Restored { why: what.to_owned() });
            return came;
        }
        let why = match &came {
            Ok(()) => end.map(|end| end.why().to_owned()).unwrap_or_default(),
            Err(halt) => halt.end().why().to_owned(),
        };
        self.notice(format!("{} was deleted, {what}, and bringing it back failed: {why}", action.target.name));
        // The object stays deleted; an undo may still restore it.
        self.write_ends(deleted.map(|end| (action, end)).into_iter().collect())?;
        came
    }

    /// Whether a finalizer still keeps the deleted object after this wait.
    async fn is_held(&mut self, port: &dyn ClusterPort, action: &Action, patience: Duration) -> Result<bool, Halt> {
        let (mut left, mut pause) = (patience, Duration::from_secs(1));
        loop {
            let reading = read(port, self.ports.clock, &action.target).await;
            let held = matches!(&reading, Reading::Present(seen) if seen.deleting && action.target.uid.as_ref() == Some(&seen.uid));
            if !held || left.is_zero() {
                return Ok(held);
            }
            let span = pause.min(left);
            self.wait(span).await?;
            left -= span;
            pause *= 2;
        }
    }

    /// The object of a backup with its existing owners; missing owners are reported.
    async fn restorable(
        &mut self,
        port: &dyn ClusterPort,
        action: &Action,
        backup: &Sealed,
        mark: &str,
    ) -> Result<Zeroizing<Vec<u8>>, String> {
        let owners = read_owners(port, self.ports.vault.owners(&backup.file)?).await;
        for dropped in &owners.dropped {
            self.notice(format!("{} comes back without an owner: {dropped}", action.target.name));
        }
        let living = owners.living.into_iter().filter_map(|owner| owner.uid).collect();
        self.ports.vault.restorable(&backup.file, mark, &living)
    }
}
