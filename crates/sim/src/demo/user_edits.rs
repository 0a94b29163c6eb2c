//! Edits that users make to the demo's clusters, before the start and while the scenario runs.

use jiff::Timestamp;

use super::certificate;
use super::guest::{Guest, put};
use super::objects::{self, CLUSTERS, field_mut};
use super::provider::{Authentication, CopyKind, references};
use super::seeded_rng::SeededRng;

/// The field manager of the users' tool.
const USER: &str = "hypershift-cli";
/// Length of a client secret; common providers use the same.
const SECRET_LENGTH: usize = 40;

/// Sets the authentication of a guest.
pub fn set_authentication(guest: &Guest, authentication: &Authentication, at: Timestamp) {
    let wanted = authentication.spec();
    guest.hosted_cluster().edit_as(USER, at, |cluster| {
        let configuration = field_mut(cluster, &["spec", "configuration"]);
        match (wanted.is_null(), configuration.as_object_mut()) {
            (true, Some(fields)) => drop(fields.remove("authentication")),
            (_, None) | (false, Some(_)) => *field_mut(configuration, &["authentication"]) = wanted,
        }
    });
}

/// Creates the sources an authentication block references, where they are missing.
pub fn create_sources(guest: &Guest, authentication: &Authentication, rng: &mut SeededRng, at: Timestamp) {
    for (kind, name) in references(&authentication.spec()) {
        if guest.outside(kind, CLUSTERS, &name).get().is_none() {
            let value = source_value(kind, &name, rng, at);
            put(&guest.management, at, objects::one_key(kind, CLUSTERS, &name, kind.key(), &value));
        }
    }
}

/// Writes a new value to a source.
pub fn rotate(guest: &Guest, kind: CopyKind, name: &str, rng: &mut SeededRng, at: Timestamp) {
    let value = source_value(kind, name, rng, at);
    let rotated = objects::one_key(kind, CLUSTERS, name, kind.key(), &value);
    guest.outside(kind, CLUSTERS, name).edit_as(USER, at, |source| source["data"] = rotated["data"].clone());
}

fn source_value(kind: CopyKind, name: &str, rng: &mut SeededRng, at: Timestamp) -> String {
    match kind {
        CopyKind::ConfigMap => certificate::authority(rng, name, at),
        CopyKind::Secret => rng.letters(SECRET_LENGTH),
    }
}
