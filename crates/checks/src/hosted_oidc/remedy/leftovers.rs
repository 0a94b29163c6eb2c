//! Deleting leftovers outside `openshift-config`: offered, never selected.
//!
//! Invariants: a mirror that the console's pods mount stays, and a source goes after the guest's orphan of its name.

use super::super::NAME;
use super::super::context::{CheckContext, console_deployment_id, console_id, copies_id, sources_id};
use super::super::leftovers::is_orphan;
use super::super::names::{CONSOLE_DEPLOYMENT, CONSOLE_NAMESPACE, COPIES_NAMESPACE, CopyKind};
use super::super::ruling::Ruling;
use super::super::settings::Settings;
use super::super::subjects::subject;
use super::super::verdict::Verdict;
use super::referrers;
use trueup_core::engine::{ActionDraft, Blocked, Change, Dependency, GateName, Reason, Stake, Target, Undo};
use trueup_core::world::{ClusterName, CollectionId, ResourceVersion, Uid};

/// Where a leftover is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The console's namespace in the guest.
    Console,
    /// The control plane's namespace in the management cluster.
    ControlPlane(CopyKind),
}

/// The delete of a leftover; nothing for another verdict.
pub fn delete(
    settings: &Settings,
    context: &CheckContext<'_>,
    location: Location,
    name: &str,
    ownership: Vec<String>,
    ruling: &Ruling,
) -> Option<ActionDraft> {
    if ruling.verdict != Verdict::Leftover {
        return None;
    }
    let kind = location.kind();
    let guest = &context.guest.name;
    let found = Found::of(context, location, name)?;
    let mut rests_on = vec![found.collection, copies_id(guest, kind)];
    rests_on.extend(referrers(context, kind));
    let (blocked_by, depends_on, stake) = match location {
        Location::ControlPlane(_) => {
            let orphan = is_orphan(context, kind, name, settings).then(|| subject(guest, kind, COPIES_NAMESPACE, name));
            let depends_on = orphan.map(|finding| Dependency { finding, order: 0 });
            (Vec::new(), depends_on.into_iter().collect(), Stake::Irreversible)
        }
        Location::Console => {
            let blocked = mounted(context, name);
            if context.console_deployment().gap.is_none() {
                rests_on.push(console_deployment_id(guest));
            }
            (blocked.into_iter().collect(), Vec::new(), Stake::Ownership)
        }
    };
    let diff = format!(
        "- apiVersion: v1\n- kind: {}\n- metadata:\n-   namespace: {}\n-   name: {name}\n",
        kind.resource().kind,
        found.namespace
    );
    let target = Target {
        cluster: found.cluster,
        resource: kind.resource(),
        namespace: Some(found.namespace),
        name: name.to_owned(),
        uid: Some(found.uid),
        version: Some(found.version),
        cloud: None,
    };
    Some(ActionDraft {
        selected: false,
        ownership,
        stake,
        diff,
        undo: Undo::RestoreFromBackup,
        depends_on,
        rests_on,
        blocked_by,
        ..ActionDraft::new(NAME, target, Change::Delete, Reason::NoReferrer)
    })
}

/// A leftover that was seen.
struct Found {
    cluster: ClusterName,
    namespace: String,
    uid: Uid,
    version: ResourceVersion,
    collection: CollectionId,
}

impl Found {
    fn of(context: &CheckContext<'_>, location: Location, name: &str) -> Option<Self> {
        match location {
            Location::Console => {
                let meta = &context.console_mirror(name)?.meta;
                Some(Self {
                    cluster: context.guest.name.clone(),
                    namespace: CONSOLE_NAMESPACE.to_owned(),
                    uid: meta.uid.clone(),
                    version: meta.version.clone(),
                    collection: console_id(&context.guest.name),
                })
            }
            Location::ControlPlane(kind) => {
                let mark = context.source(kind, name).seen?;
                let (cluster, namespace) = context.source_namespace()?;
                Some(Self {
                    cluster: cluster.clone(),
                    namespace: namespace.to_owned(),
                    uid: mark.uid.clone(),
                    version: mark.version.clone(),
                    collection: sources_id(cluster, kind, namespace),
                })
            }
        }
    }
}

/// What keeps the console's mirror: its pods mount it, or that is not known.
fn mounted(context: &CheckContext<'_>, name: &str) -> Option<Blocked> {
    let object = format!("Deployment {CONSOLE_NAMESPACE}/{CONSOLE_DEPLOYMENT}");
    match context.console_deployment().known() {
        Err(gap) => {
            let why = format!("whether {object} mounts it is not known: {gap}");
            Some(Blocked { gate: GateName::NotComplete, why })
        }
        Ok(Some(deployment)) if deployment.mounted.iter().any(|held| **held == *name) => {
            let why = format!("{object} mounts it; wait until the console operator has replaced the volume");
            Some(Blocked { gate: GateName::Dependency, why })
        }
        Ok(Some(_) | None) => None,
    }
}
