//! Reads a gathered snapshot as `--from` would, and compares.
//!
//! Invariants: what the enabled checks ask a snapshot for is in it or incomplete, whatever it was in the fleet; a finding with
//! another state or verdict than that of the fleet is reported.

use std::collections::BTreeMap;
use std::path::Path;

use super::folder::FolderNames;
use super::read::{Gathered, incomplete_name};
use crate::error::OperateError;
use crate::settings::Settings;
use crate::snapshot::{digester, known_cluster};
use trueup_checks::judgements::Judgements;
use trueup_checks::{Check, SettingsTable, registry};
use trueup_core::engine::State;
use trueup_core::world::{ClusterName, CollectionId, Content, Scope, World};
use trueup_fleet::live::recorded;
use trueup_fleet::snapshot::{self, Snapshot};

/// What was judged of each subject, under the names of the snapshot.
pub type Judged = BTreeMap<String, (State, &'static str)>;

/// A finding that the snapshot gives otherwise. Nothing where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFinding {
    pub finding: String,
    pub fleet: Option<(State, &'static str)>,
    pub snapshot: Option<(State, &'static str)>,
}

/// What was judged, under the names of the snapshot. `own` holds the user's own kubeconfig files, which are not gathered.
pub fn judged(judgements: &Judgements, names: &FolderNames, own: Option<&ClusterName>) -> Judged {
    let gathered = judgements.iter().filter(|(id, _)| Some(&id.cluster) != own);
    let named = gathered.map(|(id, held)| {
        let account = id.cloud.as_ref().map_or("", |place| place.account.as_str());
        let parts =
            [id.domain.0, names.get(&id.cluster), account, id.kind, id.namespace.as_deref().unwrap_or("_"), &id.name];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (parts.join("/"), (held.judgement.state, held.judgement.verdict))
    });
    named.collect()
}

/// A snapshot as these checks see it.
fn see(folder: &Path, checks: &[Box<dyn Check>], settings: &Settings) -> Result<(World, Judgements), OperateError> {
    let loaded = snapshot::load(folder).map_err(|error| OperateError::Snapshot(error.to_string()))?;
    let Snapshot { now, clusters, .. } = loaded;
    let known = clusters.iter().map(|cluster| known_cluster(cluster, settings)).collect();
    let recordings = clusters.into_iter().map(|cluster| (cluster.name, cluster.recorded)).collect();
    Ok(recorded(checks, known, &recordings, &digester()?, now.unwrap_or_default()))
}

/// What these checks ask the snapshot for and was not read: the place of the member, and the collection under its own name.
pub fn unread(
    folder: &Path,
    names: &FolderNames,
    all: &[Gathered],
    checks: &[Box<dyn Check>],
    settings: &Settings,
) -> Result<Vec<(usize, CollectionId)>, OperateError> {
    let (world, _) = see(folder, checks, settings)?;
    let view = world.view(jiff::Timestamp::UNIX_EPOCH);
    let mut unread = Vec::new();
    let members = all.iter().enumerate();
    for (place, member) in members.filter(|(_, member)| member.provider().is_none() && member.unreachable.is_none()) {
        let name = ClusterName::new(names.get(&member.cluster.name));
        for (asked, ..) in view.observations_of(&name) {
            if !is_covered(member, asked) && !member.incomplete.contains_key(&incomplete_name(asked)) {
                unread.push((place, of_cluster(asked, &member.cluster.name)));
            }
        }
    }
    Ok(unread)
}

/// Declares incomplete what the other checks would ask for, unless these checks rely on it.
pub fn declare_others(
    folder: &Path,
    names: &FolderNames,
    all: &mut [Gathered],
    enabled: &[Box<dyn Check>],
    settings: &Settings,
) -> Result<(), OperateError> {
    let others: Vec<Box<dyn Check>> = registry::entries()
        .iter()
        .filter(|entry| enabled.iter().all(|check| check.name() != entry.name))
        .filter_map(|entry| (entry.build)(&SettingsTable::empty(entry.name.0)).ok())
        .collect();
    for (place, asked) in unread(folder, names, all, &others, settings)? {
        let member = &mut all[place];
        let is_relied_on = member.complete.iter().any(|done| {
            let is_same = (done.resource.group, done.resource.plural) == (asked.resource.group, asked.resource.plural);
            is_same
                && (done.namespace().is_none() || asked.namespace().is_none() || done.namespace() == asked.namespace())
        });
        if !is_relied_on {
            member.lacks(&asked, "no enabled check reads it".to_owned());
        }
    }
    Ok(())
}

/// The same collection in another cluster.
fn of_cluster(id: &CollectionId, cluster: &ClusterName) -> CollectionId {
    let same = match &id.scope {
        Scope::All => CollectionId::all(cluster, id.resource),
        Scope::Namespace(namespace) => CollectionId::namespaced(cluster, id.resource, namespace.as_str()),
        Scope::Object { namespace, name } => {
            let namespace = namespace.as_ref().map(|namespace| namespace.as_str());
            CollectionId::object(cluster, id.resource, namespace, name.as_str())
        }
    };
    let same = same.labelled(&id.selector.labels).with_fields(&id.selector.fields);
    match id.content {
        Content::Full => same,
        Content::Metadata => same.metadata(),
    }
}

/// Whether what the snapshot holds answers a question completely.
fn is_covered(member: &Gathered, asked: &CollectionId) -> bool {
    let resource = &asked.resource;
    let lacks = !member.cluster.source.is_account() && member.cluster.served.lacks(resource);
    // Whole objects that are not there need no content.
    let is_absent = match &asked.scope {
        Scope::Object { namespace, name } => {
            let namespace = namespace.as_ref().map_or(String::new(), ToString::to_string);
            let key = (resource.group.to_owned(), resource.kind.to_owned(), namespace, name.to_string());
            !member.objects.contains_key(&key)
        }
        Scope::All | Scope::Namespace(_) => false,
    };
    let answers = |done: &CollectionId| {
        let is_same = (done.resource.group, done.resource.plural) == (resource.group, resource.plural);
        let selects = done.selector == Default::default() || done.selector == asked.selector;
        let content = done.content == Content::Full || asked.content == Content::Metadata || is_absent;
        let scope = match (&done.scope, &asked.scope) {
            (Scope::All, _) => true,
            (Scope::Namespace(done), _) => asked.namespace() == Some(done),
            (Scope::Object { .. }, Scope::Object { .. }) => done.scope == asked.scope,
            (Scope::Object { .. }, Scope::All | Scope::Namespace(_)) => false,
        };
        is_same && selects && content && scope
    };
    lacks || member.complete.iter().any(answers)
}

/// The findings that the snapshot gives otherwise than the fleet.
///
/// # Errors
/// The snapshot cannot be read.
pub fn differences(
    folder: &Path,
    fleet: &Judged,
    checks: &[Box<dyn Check>],
    settings: &Settings,
) -> Result<Vec<OtherFinding>, OperateError> {
    let (_, judgements) = see(folder, checks, settings)?;
    let snapshot = judged(&judgements, &FolderNames::of(std::iter::empty()), None);
    let all: std::collections::BTreeSet<&String> = fleet.keys().chain(snapshot.keys()).collect();
    let other = all.into_iter().filter_map(|finding| {
        let (fleet, snapshot) = (fleet.get(finding).copied(), snapshot.get(finding).copied());
        (fleet != snapshot).then(|| OtherFinding { finding: finding.clone(), fleet, snapshot })
    });
    Ok(other.collect())
}
