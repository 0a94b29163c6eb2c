//! What is sealed before a change that takes objects away without deleting them one by one.
//!
//! Invariants: a change with an export is not sent before every object of every kind it names, and the target itself,
//! lie sealed on the disk; a kind that can't be listed whole stops it.

use zeroize::Zeroizing;

use super::ports::ClusterPort;
use super::report::ActionResult;
use crate::engine::{Action, Change, ExportedKind};

/// The lists of an export, one after another, as the items of a list.
pub(super) type Exported = Zeroizing<Vec<u8>>;

/// Reads what an action wants sealed; nothing for an action that wants nothing.
///
/// # Errors
/// How the action ends when something could not be read whole.
pub(super) async fn read_export(port: &dyn ClusterPort, action: &Action) -> Result<Option<Exported>, ActionResult> {
    let Change::Patch(change) = &action.change else { return Ok(None) };
    if change.export.is_empty() {
        return Ok(None);
    }
    let mut items = Zeroizing::new(Vec::new());
    for ExportedKind { api_version, kind } in &change.export {
        let listed = port.list(api_version, kind).await;
        let list =
            listed.map_err(|why| ActionResult::gated(format!("backup: of kind {kind}, which is to be kept, {why}")))?;
        if !items.is_empty() {
            items.push(b',');
        }
        items.extend_from_slice(&list);
    }
    Ok(Some(items))
}

/// The target and the export as one list, which `kubectl apply` takes.
pub(super) fn together(target: &[u8], exported: &[u8]) -> Exported {
    let (head, end) = (br#"{"apiVersion":"v1","kind":"List","items":["#, b"]}");
    // Capacity for all of it: a vector that grows leaves copies behind.
    let mut whole = Zeroizing::new(Vec::with_capacity(head.len() + target.len() + 1 + exported.len() + end.len()));
    whole.extend_from_slice(head);
    whole.extend_from_slice(target);
    whole.push(b',');
    whole.extend_from_slice(exported);
    whole.extend_from_slice(end);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_one_list_of_the_target_and_of_lists() {
        let whole = together(br#"{"kind":"A"}"#, br#"{"kind":"UserList","items":[]},{"kind":"GroupList","items":[]}"#);
        let read: serde_json::Value = serde_json::from_slice(&whole).unwrap();
        let kinds: Vec<&str> =
            read["items"].as_array().unwrap().iter().filter_map(|one| one["kind"].as_str()).collect();
        assert_eq!((read["kind"].as_str(), kinds), (Some("List"), vec!["A", "UserList", "GroupList"]));
        assert_eq!(whole.capacity(), whole.len(), "it was moved");
    }
}
