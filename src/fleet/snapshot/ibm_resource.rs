//! A resource as a file about an IBM Cloud account has it: whether what it says can be believed.
//!
//! Always true: a value of another sort than its key promises, and a slip of the pen in a key or a kind, is a fault. `tag:`
//! is no resource without tags. What is no slip of a known word is somebody else's business, and is not read.
//! Not here: what the values mean (`domains::powervs_tags`).

use serde_json::Value;

use super::sheet::Step;

const KINDS: [&str; 10] = [
    "workspace",
    "dhcp-server",
    "network",
    "vpc",
    "subnet",
    "security-group",
    "load-balancer",
    "transit-gateway",
    "tg-connection",
    "cos-instance",
];
const KEYS: [&str; 12] = [
    "kind",
    "id",
    "crn",
    "name",
    "state",
    "created_at",
    "tags",
    "parent",
    "network_type",
    "network",
    "network_id",
    "locked",
];

/// How many letters a long word may be off to be taken for another; a short one half as many.
const SLIP_MAX: usize = 2;

/// The first thing in an entry that can't be understood: where, what is wrong, and what to do.
pub(super) fn odd(entry: &Value) -> Option<(Vec<Step<'_>>, String)> {
    let fields = entry.as_object().into_iter().flatten();
    fields.filter_map(|(key, value)| Some((vec![Step::Key(key)], fault(key, value)?))).next()
}

fn fault(key: &str, value: &Value) -> Option<String> {
    if !KEYS.contains(&key) {
        return slip(key, &KEYS).map(|meant| format!("has the unknown key `{key}`: did you mean `{meant}`?"));
    }
    match (key, value) {
        (_, Value::Null) => None,
        ("kind", Value::String(kind)) => {
            slip(kind, &KINDS).map(|meant| format!("is a `{kind}`, which is no kind: did you mean `{meant}`?"))
        }
        ("tags", Value::Array(tags)) if tags.iter().all(Value::is_string) => None,
        ("tags", _) => Some("says `tags` with no list of texts: write it like [ \"key:value\" ]".to_owned()),
        ("locked", Value::Bool(_)) => None,
        ("locked", _) => Some("says `locked` with neither true nor false: write one of them".to_owned()),
        ("kind" | "id", _) | (_, Value::String(_)) => None,
        (key, _) => Some(format!("says `{key}` with no text: write it in quotes")),
    }
}

/// The known word that another, which is none of them, was most likely meant to be.
fn slip<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&word) {
        return None;
    }
    let edits = |known: &str| strsim::damerau_levenshtein(&word.to_lowercase(), known);
    let nearest = known.iter().min_by_key(|known| edits(known))?;
    (edits(nearest) <= (nearest.len() / 3).clamp(1, SLIP_MAX)).then_some(*nearest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_account_may_say_is_understood_and_a_slip_is_told() {
        let tags = "says `tags` with no list of texts: write it like [ \"key:value\" ]";
        let cases = [
            (
                "everything",
                json!({
                    "kind": "tg-connection", "id": 7, "crn": "c", "name": "n", "state": "attached", "tags": ["a:b"],
                    "created_at": "2026-11-01T00:00:00Z", "parent": "p", "network_type": "vpc", "network": "w",
                    "network_id": "i", "locked": false
                }),
                None,
            ),
            ("nothing said", json!({ "kind": "vpc", "name": null, "tags": null, "locked": null }), None),
            ("a kind no cluster is made of", json!({ "kind": "public-gateway" }), None),
            ("a key of somebody else's", json!({ "kind": "vpc", "zone": "us-south-1", "guid": 5, "region": [] }), None),
            (
                "a kind in the plural",
                json!({ "kind": "vpcs" }),
                Some("is a `vpcs`, which is no kind: did you mean `vpc`?"),
            ),
            ("a key in the singular", json!({ "tag": [] }), Some("has the unknown key `tag`: did you mean `tags`?")),
            (
                "a key in capitals",
                json!({ "Parent": "x" }),
                Some("has the unknown key `Parent`: did you mean `parent`?"),
            ),
            ("one tag as text", json!({ "tags": "a:b" }), Some(tags)),
            ("a tag as a number", json!({ "tags": [1] }), Some(tags)),
            (
                "a lock as text",
                json!({ "locked": "yes" }),
                Some("says `locked` with neither true nor false: write one of them"),
            ),
            ("a name as a number", json!({ "name": 7 }), Some("says `name` with no text: write it in quotes")),
        ];
        for (case, entry, says) in cases {
            assert_eq!(odd(&entry).map(|(_, says)| says).as_deref(), says, "case: {case}");
        }
    }
}
