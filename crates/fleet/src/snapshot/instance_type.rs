//! Validation of an instance type in the file of an AWS account.
//!
//! Invariants: a value of the wrong type is a fault, never zero: `gpus: 2` is not a machine without GPUs.
//! Elsewhere: the meaning of the values (`trueup_checks::machineset_capacity`).

use serde_json::Value;

use super::entry_fault::EntryFault;
use super::yaml_tree::Step;

/// Validates an entry. Absent keys are not faults.
///
/// # Errors
/// The first invalid value.
pub(super) fn check(entry: &Value) -> Result<(), EntryFault> {
    fault_of(entry).map_or(Ok(()), Err)
}

fn fault_of(entry: &Value) -> Option<EntryFault> {
    let at = |key: &'static str| (entry.get(key).unwrap_or(&Value::Null), vec![Step::Key(key)]);
    let (cpus, memory) = (at("vcpu"), at("memory_mib"));
    first([
        unless(is_size(cpus.0), cpus.1, "has an invalid `vcpu`: write a whole number like 16"),
        unless(is_size(memory.0), memory.1, "has an invalid `memory_mib`: write a whole number like 65536"),
        architectures(at("architectures")),
        gpus(at("gpus")),
    ])
}

fn architectures((value, place): (&Value, Vec<Step<'static>>)) -> Option<EntryFault> {
    let is_list = match value {
        Value::Null => true,
        Value::Array(names) => names.iter().all(Value::is_string),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => false,
    };
    unless(is_list, place, "has invalid `architectures`: write a list like [x86_64]")
}

fn gpus((value, place): (&Value, Vec<Step<'static>>)) -> Option<EntryFault> {
    let message = "has invalid `gpus`: write a list like [ { manufacturer: NVIDIA, count: 1 } ]";
    let sorts = match value {
        Value::Null => return None,
        Value::Array(sorts) => sorts,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return unless(false, place, message);
        }
    };
    sorts.iter().enumerate().find_map(|(index, sort)| {
        let at = |key: &'static str| [place.clone(), vec![Step::Item(index), Step::Key(key)]].concat();
        let of = |key: &str| sort.get(key).unwrap_or(&Value::Null);
        let counts = "has an invalid GPU count: write a number like 1";
        first([
            unless(sort.is_object(), [place.clone(), vec![Step::Item(index)]].concat(), message),
            unless(is_whole(of("count")) || is_part(of("count")), at("count"), counts),
            unless(is_whole(of("logical_count")), at("logical_count"), counts),
            unless(
                of("manufacturer").is_null() || of("manufacturer").is_string(),
                at("manufacturer"),
                "has an invalid GPU manufacturer: write a name like NVIDIA",
            ),
        ])
    })
}

fn first<const N: usize>(all: [Option<EntryFault>; N]) -> Option<EntryFault> {
    all.into_iter().flatten().next()
}

fn unless(is_fine: bool, place: Vec<Step<'static>>, message: &'static str) -> Option<EntryFault> {
    (!is_fine).then(|| EntryFault { place, message: message.to_owned() })
}

/// Absent, or a whole number. A negative one counts as unknown.
fn is_size(value: &Value) -> bool {
    is_whole(value) || value.as_i64().is_some()
}

/// Absent, or a count.
fn is_whole(value: &Value) -> bool {
    value.is_null() || value.as_u64().is_some()
}

/// A fraction of a GPU, as some instance types have.
fn is_part(value: &Value) -> bool {
    value.as_f64().is_some_and(|count| 0.0 < count && count < 1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_valid_when_every_value_has_its_type() {
        let fine = [
            (
                "as the docs show it",
                json!({ "name": "a", "vcpu": 4, "memory_mib": 8192, "gpus": [], "architectures": ["x86_64"] }),
            ),
            ("little said", json!({ "name": "a" })),
            ("nothing said", json!({ "vcpu": null, "memory_mib": null, "gpus": null, "architectures": null })),
            ("zero and negative", json!({ "vcpu": 0, "memory_mib": -1 })),
            ("a GPU", json!({ "gpus": [{ "name": "T4", "manufacturer": "NVIDIA", "count": 1, "logical_count": 1 }] })),
            ("part of a GPU", json!({ "gpus": [{ "count": 0.125 }, { "count": 0, "logical_count": 1 }] })),
            ("unknown key", json!({ "price": "cheap" })),
        ];
        for (case, entry) in fine {
            assert_eq!(fault_of(&entry), None, "case: {case}");
        }
        let odds = [
            ("a word for a number", json!({ "vcpu": "16" }), "vcpu", "`vcpu`"),
            ("a fraction of a CPU", json!({ "vcpu": 16.5 }), "vcpu", "`vcpu`"),
            ("a size with its unit", json!({ "memory_mib": "64Gi" }), "memory_mib", "`memory_mib`"),
            ("less than no GPU", json!({ "gpus": [{ "count": -1 }] }), "gpus", "GPU count"),
            ("one architecture without a list", json!({ "architectures": "arm64" }), "architectures", "like [x86_64]"),
            ("an architecture without a name", json!({ "architectures": [null] }), "architectures", "like [x86_64]"),
            ("a number of GPUs", json!({ "gpus": 2 }), "gpus", "`gpus`"),
            ("GPUs by name", json!({ "gpus": ["T4"] }), "gpus", "`gpus`"),
            ("GPUs counted in words", json!({ "gpus": [{ "count": "two" }] }), "gpus", "GPU count"),
            ("a GPU and a half", json!({ "gpus": [{ "count": 1.5 }] }), "gpus", "GPU count"),
            ("half a logical GPU", json!({ "gpus": [{ "logical_count": 0.5 }] }), "gpus", "GPU count"),
            ("a maker without a name", json!({ "gpus": [{ "manufacturer": 5 }] }), "gpus", "manufacturer"),
        ];
        for (case, entry, key, message) in odds {
            let Some(fault) = fault_of(&entry) else { panic!("case: {case}: accepted") };
            assert_eq!(
                (fault.place.first(), fault.message.contains(message)),
                (Some(&Step::Key(key)), true),
                "case: {case}: {fault:?}"
            );
        }
    }
}
