//! An instance type as a file about an AWS account has it: whether what it says can be believed.
//!
//! Always true: a value of another sort than its key promises is a fault, never nought. `gpus: 2` is no machine without
//! GPUs.
//! Not here: what the values mean (`domains::machineset_capacity`).

use serde_json::Value;

use super::odd::Odd;
use super::sheet::Step;

/// Whether an entry can be believed. What it does not say is no fault.
///
/// # Errors
/// The first thing that can't be understood.
pub(super) fn check(entry: &Value) -> Result<(), Odd> {
    odd(entry).map_or(Ok(()), Err)
}

fn odd(entry: &Value) -> Option<Odd> {
    let at = |key: &'static str| (entry.get(key).unwrap_or(&Value::Null), vec![Step::Key(key)]);
    let (cpus, memory) = (at("vcpu"), at("memory_mib"));
    first([
        unless(is_size(cpus.0), cpus.1, "says `vcpu` with no whole number: write it like 16"),
        unless(is_size(memory.0), memory.1, "says `memory_mib` with no whole number: write it like 65536"),
        architectures(at("architectures")),
        gpus(at("gpus")),
    ])
}

fn architectures((value, place): (&Value, Vec<Step<'static>>)) -> Option<Odd> {
    let is_list = match value {
        Value::Null => true,
        Value::Array(names) => names.iter().all(Value::is_string),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => false,
    };
    unless(is_list, place, "says `architectures` with no list of names: write it like [x86_64]")
}

fn gpus((value, place): (&Value, Vec<Step<'static>>)) -> Option<Odd> {
    let says = "says `gpus` with no list: write it like [ { manufacturer: NVIDIA, count: 1 } ]";
    let sorts = match value {
        Value::Null => return None,
        Value::Array(sorts) => sorts,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => return unless(false, place, says),
    };
    sorts.iter().enumerate().find_map(|(index, sort)| {
        let at = |key: &'static str| [place.clone(), vec![Step::Item(index), Step::Key(key)]].concat();
        let of = |key: &str| sort.get(key).unwrap_or(&Value::Null);
        let counts = "counts its GPUs with no number: write it like 1";
        first([
            unless(sort.is_object(), [place.clone(), vec![Step::Item(index)]].concat(), says),
            unless(is_whole(of("count")) || is_part(of("count")), at("count"), counts),
            unless(is_whole(of("logical_count")), at("logical_count"), counts),
            unless(
                of("manufacturer").is_null() || of("manufacturer").is_string(),
                at("manufacturer"),
                "says who made its GPUs with no name: write it like NVIDIA",
            ),
        ])
    })
}

fn first<const N: usize>(all: [Option<Odd>; N]) -> Option<Odd> {
    all.into_iter().flatten().next()
}

fn unless(is_fine: bool, place: Vec<Step<'static>>, says: &'static str) -> Option<Odd> {
    (!is_fine).then(|| Odd { place, says: says.to_owned() })
}

/// Nothing, or a whole number. One below zero says as little as none, and is judged so.
fn is_size(value: &Value) -> bool {
    is_whole(value) || value.as_i64().is_some()
}

/// Nothing, or a count.
fn is_whole(value: &Value) -> bool {
    value.is_null() || value.as_u64().is_some()
}

/// Part of a GPU, as some machines have.
fn is_part(value: &Value) -> bool {
    value.as_f64().is_some_and(|count| 0.0 < count && count < 1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_believed_when_every_value_is_of_its_sort() {
        let fine = [
            (
                "as the docs show it",
                json!({ "name": "a", "vcpu": 4, "memory_mib": 8192, "gpus": [], "architectures": ["x86_64"] }),
            ),
            ("little said", json!({ "name": "a" })),
            ("nothing said", json!({ "vcpu": null, "memory_mib": null, "gpus": null, "architectures": null })),
            ("nought, and less", json!({ "vcpu": 0, "memory_mib": -1 })),
            ("a GPU", json!({ "gpus": [{ "name": "T4", "manufacturer": "NVIDIA", "count": 1, "logical_count": 1 }] })),
            ("part of a GPU", json!({ "gpus": [{ "count": 0.125 }, { "count": 0, "logical_count": 1 }] })),
            ("a key nobody knows", json!({ "price": "cheap" })),
        ];
        for (case, entry) in fine {
            assert_eq!(odd(&entry), None, "case: {case}");
        }
        let odds = [
            ("a word for a number", json!({ "vcpu": "16" }), "vcpu", "`vcpu`"),
            ("a fraction of a CPU", json!({ "vcpu": 16.5 }), "vcpu", "`vcpu`"),
            ("a size with its unit", json!({ "memory_mib": "64Gi" }), "memory_mib", "`memory_mib`"),
            ("less than no GPU", json!({ "gpus": [{ "count": -1 }] }), "gpus", "counts"),
            ("one architecture without a list", json!({ "architectures": "arm64" }), "architectures", "like [x86_64]"),
            ("an architecture without a name", json!({ "architectures": [null] }), "architectures", "like [x86_64]"),
            ("a number of GPUs", json!({ "gpus": 2 }), "gpus", "`gpus`"),
            ("GPUs by name", json!({ "gpus": ["T4"] }), "gpus", "`gpus`"),
            ("GPUs counted in words", json!({ "gpus": [{ "count": "two" }] }), "gpus", "counts"),
            ("a GPU and a half", json!({ "gpus": [{ "count": 1.5 }] }), "gpus", "counts"),
            ("half a logical GPU", json!({ "gpus": [{ "logical_count": 0.5 }] }), "gpus", "counts"),
            ("a maker without a name", json!({ "gpus": [{ "manufacturer": 5 }] }), "gpus", "who made"),
        ];
        for (case, entry, key, says) in odds {
            let Some(odd) = odd(&entry) else { panic!("case: {case}: believed") };
            assert_eq!(
                (odd.place.first(), odd.says.contains(says)),
                (Some(&Step::Key(key)), true),
                "case: {case}: {odd:?}"
            );
        }
    }
}
