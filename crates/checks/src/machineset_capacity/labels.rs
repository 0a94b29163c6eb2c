//! The labels annotation: `key=value,key=value`.
//!
//! Invariants:
//! - what is there is read the way the autoscaler reads it: no space is trimmed, an entry without `=` is none;
//! - what is written keeps every other label, and is sorted by key.

use std::collections::BTreeMap;

use super::expected::Arch;
use super::names::ARCH_LABEL;

/// The labels as the autoscaler sees them.
pub fn seen(annotation: &str) -> BTreeMap<&str, &str> {
    annotation.split(',').filter_map(|entry| entry.split_once('=')).collect()
}

/// The expected labels: the present ones, with the computed architecture.
pub fn wanted(annotation: &str, arch: Arch) -> BTreeMap<&str, &str> {
    let entries = annotation.split(',').filter_map(|entry| entry.split_once('='));
    let trimmed = entries.map(|(key, value)| (key.trim(), value.trim())).filter(|(key, _)| !key.is_empty());
    let mut labels: BTreeMap<&str, &str> = trimmed.collect();
    labels.insert(ARCH_LABEL, arch.as_str());
    labels
}

pub fn spelt(labels: &BTreeMap<&str, &str>) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first rows are upstream's own cases.
    #[test]
    fn other_labels_are_kept_and_the_computed_architecture_wins() {
        let cases = [
            (
                "custom-label=value,node-role.kubernetes.io/worker=",
                Arch::Amd64,
                "custom-label=value,kubernetes.io/arch=amd64,node-role.kubernetes.io/worker=",
            ),
            ("kubernetes.io/arch=amd64,custom-label=value", Arch::Arm64, "custom-label=value,kubernetes.io/arch=arm64"),
            ("", Arch::Amd64, "kubernetes.io/arch=amd64"),
            ("wrong-key-value-pair,bar=", Arch::Amd64, "bar=,kubernetes.io/arch=amd64"),
            ("a=b=c", Arch::Amd64, "a=b=c,kubernetes.io/arch=amd64"),
            (" z = 1 , a=2", Arch::Arm64, "a=2,kubernetes.io/arch=arm64,z=1"),
            ("a=1,a=2", Arch::Amd64, "a=2,kubernetes.io/arch=amd64"),
            ("=x,,", Arch::Amd64, "kubernetes.io/arch=amd64"),
        ];
        for (held, arch, expected) in cases {
            assert_eq!(spelt(&wanted(held, arch)), expected, "{held:?}");
        }
    }

    #[test]
    fn a_space_makes_another_label_as_the_autoscaler_sees_it() {
        assert_ne!(seen("a=1, kubernetes.io/arch=amd64"), wanted("a=1, kubernetes.io/arch=amd64", Arch::Amd64));
        assert_eq!(seen("kubernetes.io/arch=amd64,a=1"), wanted("a=1,kubernetes.io/arch=amd64", Arch::Amd64));
    }
}
