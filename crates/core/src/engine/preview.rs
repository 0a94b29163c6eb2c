//! Where an action's content comes from, in one line for previews and prompts.
//!
//! Invariant: every action that copies or restores content has such a line, whatever its verb.

use super::approve::short_id;
use super::origin::Origin;
use super::plan::Action;

/// Returns what an action copies or restores, and from where; nothing for an action that does neither. The text is not made
/// printable.
pub fn source_line(action: &Action) -> Option<String> {
    if let Some(copying) = action.change.copying() {
        let source = &copying.source;
        let cluster = source.cluster.as_deref().unwrap_or(&action.cluster);
        let key = |(to, from): (&String, &String)| if to == from { to.clone() } else { format!("{from} as {to}") };
        let keys: Vec<String> = copying.keys.iter().map(key).collect();
        let what = format!("{} {cluster}/{}/{}", source.kind, source.namespace, source.name);
        return Some(format!("copies {what} keys {}", keys.join(", ")));
    }
    let backup = action.change.backup()?;
    let entry = match &action.origin {
        Origin::Undo { plan, action } | Origin::Restore { plan, action } => {
            format!(" of {}/{action}", short_id(plan))
        }
        Origin::Finding(_) => String::new(),
    };
    let target = &action.target;
    Some(format!("restores {} {}/{} from backup {backup}{entry}", target.kind, action.cluster, target.place()))
}

/// Begins a line of a diff that says what a write sets off, such as restarts.
pub const CONSEQUENCE: &str = "! ";

/// Returns what the write sets off, as its diff says it. Approval shows these lines beside the action.
pub fn consequences(action: &Action) -> impl Iterator<Item = &str> {
    action.diff.lines().filter_map(|line| line.strip_prefix(CONSEQUENCE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{finding, given, label};
    use crate::engine::{ActionDraft, Change, Verb};
    use serde_json::json;

    #[test]
    fn every_copy_and_every_restore_names_its_source() {
        let source = json!({ "cluster": "mgmt", "apiVersion": "v1", "kind": "Secret", "namespace": "ns", "name": "s" });
        let copy = json!({ "copy": { "source": source, "keys": { "value": "kubeconfig", "token": "token" } } });
        let undo = Origin::Undo { plan: "sha256:0123456789".to_owned(), action: "a1".to_owned() };
        let copies = Some("copies Secret mgmt/ns/s keys token, kubeconfig as value");
        let restores = Some("restores Secret guest-a/openshift-config/x from backup f.age of 01234567/a1");
        let cases = [
            ("a delete", Verb::Delete, json!({}), None, None),
            ("an update", Verb::Update, copy.clone(), None, copies),
            ("a create", Verb::Create, copy.clone(), None, copies),
            ("an apply", Verb::Apply, copy, None, copies),
            ("a shown text", Verb::Apply, json!({ "data": { "a": "b" } }), None, None),
            ("a restore", Verb::Create, json!({ "backup": "f.age" }), Some(undo.clone()), restores),
            ("earlier content", Verb::Update, json!({ "backup": "f.age", "keys": ["a"] }), Some(undo), restores),
        ];
        for (case, verb, change, origin, expected) in cases {
            let draft = ActionDraft { change: Change::read(verb, change).unwrap(), ..label("guest-a", "x") };
            let mut action = given().finding(finding("x").draft(draft)).plan().actions.remove(0);
            action.origin = origin.unwrap_or(action.origin);
            assert_eq!(source_line(&action).as_deref(), expected, "case: {case}");
        }
    }
}
