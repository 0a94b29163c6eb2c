//! A redacted snapshot of exactly what the checks read.
//!
//! Invariants:
//! - no secret byte is written: values of Secrets are placeholders that are equal where the values are, or documents without
//!   what is secret in them;
//! - what the checks ask the snapshot for is read, or incomplete there: a missing object never proves more to them than it did
//!   in the fleet;
//! - the snapshot is read again, and findings that it gives otherwise are named.
//!
//! Elsewhere: reading snapshots (`crate::snapshot`), what may be shown (`trueup_core::redact`).

mod check;
mod folder;
mod kubeconfig;
mod object;
mod placeholder;
mod read;

use std::path::{Path, PathBuf};

use crate::error::OperateError;
use crate::fleet::Fleet;
use crate::snapshot::digester;
pub use check::OtherFinding;
use folder::FolderNames;
use placeholder::Placeholders;
use read::{Gathered, Seen, Whole};
use trueup_checks::Check;
use trueup_core::world::ClusterSource;
use trueup_fleet::snapshot;

/// How often what was read may lead to further questions.
const ROUNDS_MAX: usize = 8;

/// What was gathered.
#[derive(Debug, Default)]
pub struct GatherReport {
    pub clusters: usize,
    pub accounts: usize,
    pub objects: usize,
    /// What the snapshot does not hold completely: cluster, what, and why.
    pub incomplete: Vec<(String, String, String)>,
    /// Clusters that have another name in the snapshot.
    pub renamed: Vec<(String, String)>,
    /// Whether the user's own kubeconfig files were left out.
    pub without_own_contexts: bool,
    pub other_findings: Vec<OtherFinding>,
}

impl Fleet {
    /// Writes what the checks read of this fleet into a new folder. `from` is where the fleet was read, if it is recorded;
    /// `checks` are those that judged it.
    ///
    /// # Errors
    /// The folder is not empty, or cannot be written.
    pub async fn gather(
        &self,
        folder: &Path,
        from: Option<&Path>,
        checks: Vec<Box<dyn Check>>,
    ) -> Result<GatherReport, OperateError> {
        let cant = |path: PathBuf| move |error: std::io::Error| OperateError::Gather { path, error };
        folder::prepare(folder).map_err(cant(folder.to_owned()))?;
        let asked = self.ask(|live| {
            let view = live.view();
            let names = FolderNames::of(view.clusters());
            let own =
                view.clusters().find(|cluster| cluster.source == ClusterSource::Local).map(|cluster| &cluster.name);
            let judged = check::judged(live.judgements(), &names, own);
            (Seen::all(view), judged, names, own.is_some(), view.now)
        });
        let (seen, judged, names, without_own_contexts, now) = asked.await?;
        let whole = match from {
            None => Whole::Live(self.clone()),
            Some(from) => {
                let read = snapshot::load(from).map_err(|error| OperateError::Snapshot(error.to_string()))?;
                Whole::Recorded(read.clusters.into_iter().map(|one| (one.name, one.recorded)).collect())
            }
        };
        let mut placeholders = Placeholders::new(digester()?);
        let mut all = Vec::new();
        for member in seen {
            all.push(whole.gather(member, &mut placeholders).await);
        }
        let settings = &self.session().settings;
        let write = |all: &[Gathered]| {
            let objects = folder::write_objects(folder, &names, all).map_err(cant(folder.to_owned()))?;
            folder::write_fleet(folder, &names, all, now).map_err(cant(folder.join("fleet.yaml")))?;
            Ok::<usize, OperateError>(objects)
        };
        for _ in 0..ROUNDS_MAX {
            write(&all)?;
            let unread = check::unread(folder, &names, &all, &checks, settings)?;
            if unread.is_empty() {
                break;
            }
            for (place, id) in unread {
                whole.read_into(&mut all[place], &id, &mut placeholders).await;
            }
        }
        check::declare_others(folder, &names, &mut all, &checks, settings)?;
        let objects = write(&all)?;
        let other_findings = check::differences(folder, &judged, &checks, settings)?;
        Ok(GatherReport { objects, without_own_contexts, other_findings, ..report(&names, all) })
    }
}

fn report(names: &FolderNames, all: Vec<Gathered>) -> GatherReport {
    let mut report = GatherReport {
        renamed: names.renamed().map(|(cluster, name)| (cluster.to_string(), name.to_owned())).collect(),
        ..GatherReport::default()
    };
    for member in all {
        match member.provider() {
            Some(_) => report.accounts += 1,
            None => report.clusters += 1,
        }
        let name = member.cluster.name.to_string();
        if let Some(why) = member.unreachable {
            report.incomplete.push((name.clone(), "everything".to_owned(), why));
        }
        let parts = member.incomplete.into_iter().map(|(what, why)| (name.clone(), what, why));
        report.incomplete.extend(parts);
    }
    report
}
