//! What an object says about who else writes it: the tool that manages it, its owners, Velero's restore.
//!
//! Invariants: only [`ManagedBy`] is ever decided by; the rest is evidence. Of a Secret's metadata only what may be shown is
//! kept.
//!
//! Elsewhere: the tools (`managed_by`), who wrote which field (`tracked`), blocking (`engine::gate`).

use super::managed_by::ManagedBy;
use super::raw::{RawMeta, RawObject, RawOwner};
use super::tracked::Writer;
use crate::redact::metadata_value;

/// Owners that are kept: an object has one or two.
const OWNERS_MAX: usize = 4;
/// Characters of a name that are kept: names of objects are shorter.
const NAME_CHARS_MAX: usize = 253;
/// Labels that Velero puts on what it restores.
const VELERO: [&str; 2] = ["velero.io/restore-name", "velero.io/backup-name"];

/// What an object says about its writers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    pub managed_by: Option<ManagedBy>,
    pub others: Box<[Mark]>,
}

/// A mark that decides nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// `controlled by Deployment console`
    pub message: String,
    /// The field it was read from.
    pub field: String,
}

/// What is known of the writers of one object.
#[derive(Debug, Clone, Copy, Default)]
pub struct Writers<'w> {
    pub marks: Option<&'w Marks>,
    /// The field manager that wrote last, where a fact keeps it.
    pub newest: Option<&'w Writer>,
}

impl Marks {
    /// Reads the marks of an object; nothing where it has none.
    pub fn of(raw: &RawObject<'_>) -> Option<Self> {
        let managed_by = ManagedBy::of(raw);
        let mut others: Vec<Mark> = velero(raw.kind.as_ref(), &raw.meta).into_iter().collect();
        others.extend(raw.meta.owners.iter().take(OWNERS_MAX).map(owner));
        let is_empty = managed_by.is_none() && others.is_empty();
        (!is_empty).then(|| Self { managed_by, others: others.into() })
    }
}

fn owner(owner: &RawOwner<'_>) -> Mark {
    let relation = if owner.controller == Some(true) { "controlled" } else { "owned" };
    let name: String = owner.name.chars().take(NAME_CHARS_MAX).collect();
    Mark { message: format!("{relation} by {} {name}", owner.kind), field: "metadata.ownerReferences".to_owned() }
}

fn velero(kind: &str, meta: &RawMeta<'_>) -> Option<Mark> {
    let key = VELERO.into_iter().find(|key| meta.label(key).is_some())?;
    let name = metadata_value(kind, key, meta.label(key)?);
    let what = if key == VELERO[0] { "restore" } else { "backup" };
    Some(Mark { message: format!("restored by Velero ({what} {name})"), field: format!("metadata.labels[{key}]") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decode::{DataSort, Digester, Reader};

    fn marks(metadata: serde_json::Value) -> Option<Marks> {
        let digester = Digester::new(&[1; 32]);
        let (sort, kind) = (DataSort::of("", "Secret"), "Secret");
        let reader = Reader { digester: &digester, sort, digested: &[], reduced: &[], api_version: "v1", kind };
        let text = json!({ "metadata": metadata }).to_string();
        Marks::of(&reader.object(&text).unwrap())
    }

    fn others(metadata: serde_json::Value) -> Vec<String> {
        marks(metadata).map_or(Vec::new(), |marks| {
            assert_eq!(marks.managed_by, None);
            marks.others.iter().map(|mark| format!("{} [{}]", mark.message, mark.field)).collect()
        })
    }

    #[test]
    fn owners_and_velero_are_evidence_and_no_tool() {
        assert_eq!(marks(json!({ "name": "s" })), None);
        let owner = |controller: bool| json!({ "apiVersion": "v1", "kind": "Deployment", "name": "d", "uid": "u", "controller": controller });
        let owners = json!({ "name": "s", "ownerReferences": [ owner(true), owner(false) ] });
        let expected = [
            "controlled by Deployment d [metadata.ownerReferences]",
            "owned by Deployment d [metadata.ownerReferences]",
        ];
        assert_eq!(others(owners), expected);
        let restored =
            json!({ "name": "s", "labels": { "velero.io/restore-name": "r-1", "velero.io/backup-name": "b-1" } });
        assert_eq!(others(restored), ["restored by Velero (restore r-1) [metadata.labels[velero.io/restore-name]]"]);
        let backup = json!({ "name": "s", "labels": { "velero.io/backup-name": "b-1" } });
        assert_eq!(others(backup), ["restored by Velero (backup b-1) [metadata.labels[velero.io/backup-name]]"]);
    }

    #[test]
    fn a_tool_that_owns_by_reference_is_named_as_both() {
        let owner = json!({ "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "name": "c", "uid": "u" });
        let found = marks(json!({ "name": "s", "ownerReferences": [ owner ] })).expect("it has marks");
        assert!(found.managed_by.is_some() && found.others.len() == 1);
    }
}
