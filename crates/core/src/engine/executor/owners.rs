//! Which owners of an object still live.
//!
//! Invariants: an owner comes back with an object only when it was read and has the uid the object names. With a dead
//! owner the garbage collector would delete the object again at once; with one that could not be read it might.

use futures::future::join_all;

use super::ports::{ClusterPort, Reading};
use crate::engine::{ObjectRef, OwnersSeen};

/// Reads every owner and says which live.
pub async fn read_owners(port: &dyn ClusterPort, owners: Vec<ObjectRef>) -> OwnersSeen {
    let readings = join_all(owners.iter().map(|owner| port.read(owner))).await;
    let mut seen = OwnersSeen::default();
    for (owner, reading) in owners.into_iter().zip(readings) {
        let gone = match reading {
            Reading::Present(found) if Some(&found.uid) == owner.uid.as_ref() => None,
            Reading::Present(_) => Some("it was deleted, and another one has its name".to_owned()),
            Reading::Absent => Some("it is gone".to_owned()),
            Reading::Unknown(why) => Some(format!("whether it lives is not known: {why}")),
        };
        match gone {
            None => seen.living.push(owner),
            Some(why) => seen.dropped.push(format!("its owner {} {}: {why}", owner.kind, owner.name)),
        }
    }
    seen
}

/// Why an object can't come back with the owners its plan shows; nothing when all of them live.
pub(super) async fn lost_owner(port: &dyn ClusterPort, owners: Vec<ObjectRef>) -> Option<String> {
    read_owners(port, owners).await.dropped.into_iter().next()
}
