//! What people do to the story's clusters, in its past and while it runs.

use jiff::Timestamp;

use super::certificate;
use super::dice::Dice;
use super::guest::{Guest, put};
use super::objects::{self, CLUSTERS};
use super::provider::{Authentication, CopyKind, references};

/// The length of a client secret, as common providers make them.
const SECRET_LENGTH: usize = 40;

/// Somebody changes who may log in to a guest.
pub fn ask_for(guest: &Guest, authentication: &Authentication, at: Timestamp) {
    let wanted = authentication.spec();
    guest.hosted_cluster().edit(at, |cluster| {
        let configuration = &mut cluster["spec"]["configuration"];
        match (wanted.is_null(), configuration.as_object_mut()) {
            (true, Some(fields)) => drop(fields.remove("authentication")),
            (_, None) | (false, Some(_)) => configuration["authentication"] = wanted,
        }
    });
}

/// Somebody makes the sources an authentication block names, where they are missing.
pub fn make_sources(guest: &Guest, authentication: &Authentication, dice: &mut Dice, at: Timestamp) {
    for (kind, name) in references(&authentication.spec()) {
        if guest.outside(kind, CLUSTERS, &name).look().is_none() {
            let value = source_value(kind, &name, dice, at);
            put(&guest.management, at, objects::one_key(kind, CLUSTERS, &name, kind.key(), &value));
        }
    }
}

/// Somebody puts a new value into a source.
pub fn rotate(guest: &Guest, kind: CopyKind, name: &str, dice: &mut Dice, at: Timestamp) {
    let value = source_value(kind, name, dice, at);
    let rotated = objects::one_key(kind, CLUSTERS, name, kind.key(), &value);
    guest.outside(kind, CLUSTERS, name).edit(at, |source| source["data"] = rotated["data"].clone());
}

fn source_value(kind: CopyKind, name: &str, dice: &mut Dice, at: Timestamp) -> String {
    match kind {
        CopyKind::ConfigMap => certificate::authority(dice, name, at),
        CopyKind::Secret => dice.letters(SECRET_LENGTH),
    }
}
