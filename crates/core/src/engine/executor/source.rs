//! The object an action copies from, read right before the copy is written.
//!
//! Invariants: a source counts only with the uid and the version the plan shows, and only with something under every key
//! that is copied. A source that lost a key never empties a target.

use super::content::Content;
use super::ports::{ClusterPort, Clusters, ExecutorClock, Reading};
use super::read::read;
use super::report::ActionResult;
use crate::engine::{Action, Copying, SourcePrecondition};

/// What an action copies; nothing for an action that copies nothing.
///
/// # Errors
/// How the action ends when its source is not the one the plan shows.
pub(super) async fn read_source(
    clusters: &Clusters,
    clock: &dyn ExecutorClock,
    action: &Action,
) -> Result<Option<Content>, ActionResult> {
    let Some(copying) = action.change.copying() else { return Ok(None) };
    let Some(bound) = &action.preconditions.source else {
        return Err(ActionResult::gated("identity: the plan binds no uid and version of the source"));
    };
    let cluster = copying.source.cluster.as_ref().unwrap_or(&action.cluster);
    let Some(port) = clusters.get(cluster) else {
        return Err(ActionResult::gated(format!("identity: {cluster}, which holds the source, is not connected")));
    };
    read_bound(port.as_ref(), clock, copying, bound).await.map(Some)
}

async fn read_bound(
    port: &dyn ClusterPort,
    clock: &dyn ExecutorClock,
    copying: &Copying,
    bound: &SourcePrecondition,
) -> Result<Content, ActionResult> {
    let object = copying.source.object();
    let place = format!("{} {}/{}", object.kind, copying.source.namespace, object.name);
    let seen = match read(port, clock, &object).await {
        Reading::Present(seen) => seen,
        Reading::Absent => return Err(ActionResult::stale(format!("its source {place} is gone"))),
        Reading::Unknown(why) => {
            return Err(ActionResult::gated(format!("not-complete: source {place}: cannot be read: {why}")));
        }
    };
    if seen.uid != bound.uid {
        return Err(ActionResult::stale(format!("its source {place} was deleted and created again")));
    }
    if seen.resource_version != bound.resource_version {
        let (before, now) = (&bound.resource_version, &seen.resource_version);
        let why = format!("its source {place} changed since the plan was made (version {before} became {now})");
        return Err(ActionResult::stale(why));
    }
    let content = Content::of(&object.kind, &seen.json)
        .map_err(|why| ActionResult::gated(format!("not-complete: source {place}: {why}")))?;
    let empty = |key: &&String| content.get(key).is_none_or(|bytes| bytes.is_empty());
    match copying.keys.values().find(empty) {
        Some(key) => {
            Err(ActionResult::gated(format!("its source {place} has nothing under `{key}`; the target stays as it is")))
        }
        None => Ok(content),
    }
}
