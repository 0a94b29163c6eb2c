//! Expected beside actual, annotation by annotation.
//!
//! Invariants: values are compared and not spellings: `64Gi` is `65536Mi`, and labels are a set.

use super::expected::{Expected, GpuType};
use super::facts::Pool;
use super::labels;
use super::names::{
    CAPACITY_CPU, CAPACITY_GPU_COUNT, CAPACITY_GPU_TYPE, CAPACITY_LABELS, CAPACITY_MEMORY, MACHINE_CPU, MACHINE_GPU,
    MACHINE_MEMORY,
};
use super::quantity::Quantity;
use super::verdict::{Code, Verdict};

/// Which keys say the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `machine.openshift.io/…`
    Machine,
    /// `capacity.cluster-autoscaler.kubernetes.io/…`
    Capacity,
}

impl Family {
    pub const MACHINE_API: &'static [Self] = &[Self::Machine, Self::Capacity];
    pub const CLUSTER_API: &'static [Self] = &[Self::Capacity];

    pub fn prefix(self) -> &'static str {
        match self {
            Self::Machine => "machine.openshift.io",
            Self::Capacity => "capacity.cluster-autoscaler.kubernetes.io",
        }
    }
}

/// One annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    pub family: Family,
    pub key: &'static str,
    /// Nothing: it must be absent.
    pub expected: Option<String>,
    pub actual: Option<&'a str>,
    pub status: AnnotationStatus,
}

/// How an annotation stands to what is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationStatus {
    Same,
    Absent,
    Differs,
}

/// Every annotation that is expected, in the order they are shown.
pub fn lines<'a>(pool: &'a Pool, expected: &Expected, families: &[Family]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for family in families {
        match family {
            Family::Machine => machine(pool, expected, &mut lines),
            Family::Capacity => capacity(pool, expected, &mut lines),
        }
    }
    lines
}

fn machine<'a>(pool: &'a Pool, expected: &Expected, lines: &mut Vec<Line<'a>>) {
    let values = [(MACHINE_CPU, expected.cpus), (MACHINE_MEMORY, expected.memory_mib), (MACHINE_GPU, expected.gpus)];
    for (key, value) in values {
        let is_same = |text: &str| is_count(text, value);
        lines.push(line(Family::Machine, key, Some(value.to_string()), pool.annotation(key), is_same));
    }
}

fn capacity<'a>(pool: &'a Pool, expected: &Expected, lines: &mut Vec<Line<'a>>) {
    let Expected { cpus, memory_mib, gpus, gpu_type, arch } = *expected;
    let mut push = |key: &'static str, value: Option<String>, is_same: &dyn Fn(&str) -> bool| {
        lines.push(line(Family::Capacity, key, value, pool.annotation(key), is_same));
    };
    push(CAPACITY_CPU, Some(cpus.to_string()), &|text| Quantity::parse(text) == Some(Quantity::whole(cpus)));
    push(CAPACITY_MEMORY, Some(format!("{memory_mib}Mi")), &|text| {
        Quantity::parse(text) == Some(Quantity::mebibytes(memory_mib))
    });
    match gpu_type {
        GpuType::Nvidia | GpuType::Amd => {
            let resource = gpu_type.resource();
            push(CAPACITY_GPU_COUNT, Some(gpus.to_string()), &|text| is_count(text, gpus));
            push(CAPACITY_GPU_TYPE, resource.map(str::to_owned), &|text| Some(text) == resource);
        }
        GpuType::None => {
            push(CAPACITY_GPU_COUNT, None, &|text| is_count(text, gpus));
            push(CAPACITY_GPU_TYPE, None, &str::is_empty);
        }
        // With a count alone an autoscaler would promise nvidia GPUs. What a user has set is not judged.
        GpuType::Unknown => {}
    }
    let held = pool.annotation(CAPACITY_LABELS).unwrap_or_default();
    let wanted = labels::wanted(held, arch);
    push(CAPACITY_LABELS, Some(labels::spelt(&wanted)), &|text| labels::seen(text) == wanted);
}

fn line<'a>(
    family: Family,
    key: &'static str,
    expected: Option<String>,
    actual: Option<&'a str>,
    is_same: impl Fn(&str) -> bool,
) -> Line<'a> {
    let status = match actual {
        Some(text) if is_same(text) => AnnotationStatus::Same,
        Some(_) => AnnotationStatus::Differs,
        None if expected.is_none() => AnnotationStatus::Same,
        None => AnnotationStatus::Absent,
    };
    Line { family, key, expected, actual, status }
}

fn is_count(text: &str, value: u64) -> bool {
    text.parse() == Ok(value)
}

/// How a family stands as a whole: cpu, memory and GPU, whatever the labels say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    Absent,
    Right,
    /// Something it says is not so.
    Wrong,
    /// What it says is so, and something is not said.
    Short,
}

impl Whole {
    fn of(family: Family, lines: &[Line<'_>]) -> Self {
        let own = || lines.iter().filter(|line| line.family == family && line.key != CAPACITY_LABELS);
        // A value that must be absent and counts as absent is skipped.
        let message = |line: &Line<'_>| {
            line.actual.is_some() && (line.expected.is_some() || line.status != AnnotationStatus::Same)
        };
        if !own().any(message) {
            Self::Absent
        } else if own().all(|line| line.status == AnnotationStatus::Same) {
            Self::Right
        } else if own().any(|line| line.status == AnnotationStatus::Differs) {
            Self::Wrong
        } else {
            Self::Short
        }
    }
}

/// Rule 9.
pub fn verdict(lines: &[Line<'_>], families: &[Family]) -> (Verdict, Option<Code>) {
    let wholes: Vec<Whole> = families.iter().map(|family| Whole::of(*family, lines)).collect();
    if wholes.iter().all(|whole| *whole == Whole::Absent) {
        return (Verdict::Missing, None);
    }
    if lines.iter().all(|line| line.status == AnnotationStatus::Same) {
        return (Verdict::Match, None);
    }
    if wholes.contains(&Whole::Right) && wholes.contains(&Whole::Wrong) {
        return (Verdict::KeysDisagree, None);
    }
    (Verdict::Drift, wholes.contains(&Whole::Absent).then_some(Code::FamilyAbsent))
}
