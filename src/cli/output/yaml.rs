//! The plan as YAML: the tree of its JSON, with the same id and mark.

use serde::Serialize;
use serde_json::{Value, json};

use super::{FindingSource, Page};
use crate::render::yaml::{item, members};
use trueup_core::engine::Plan;
use trueup_core::engine::text::Printable;

/// Passes the document to `write`, in parts.
///
/// # Errors
/// That of `write`.
pub fn yaml<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    // Every field is named: one that is forgotten would be missing in the document.
    let Plan { schema, id, mark, created_at, expires_at, engine, targets, observations, findings, actions, summary } =
        page.plan;
    let head = [
        json!({ "schema": schema }),
        json!({ "id": id }),
        mark.as_ref().map_or(Value::Null, |mark| json!({ "mark": mark })),
        json!({ "created_at": created_at }),
        json!({ "expires_at": expires_at }),
        json!({ "engine": engine }),
    ];
    head.iter().try_for_each(|member| write(&members(member)))?;
    list("targets", targets, &mut write)?;
    list("observations", observations, &mut write)?;
    match findings.brief().next() {
        None => write(&members(&json!({ "findings": [] })))?,
        Some(_) => {
            write(&Printable::lines("findings:\n"))?;
            findings.each(|_| true, |finding, _| item(&tree(&finding)), |text| write(&text))?;
        }
    }
    list("actions", actions, &mut write)?;
    write(&members(&json!({ "summary": summary })))
}

fn list<T: Serialize, E>(
    name: &str,
    values: &[T],
    write: &mut impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    if values.is_empty() {
        return write(&members(&json!({ name: [] })));
    }
    write(&Printable::lines(&format!("{name}:\n")))?;
    values.iter().try_for_each(|value| write(&item(&tree(value))))
}

fn tree(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("a plan is made of JSON values and text keys")
}
