//! Instance types as EC2 describes them.

use std::collections::BTreeMap;

/// An instance type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimInstanceType {
    pub name: String,
    pub vcpu: u64,
    pub memory_mib: u64,
    pub gpus: Vec<SimGpu>,
    pub architectures: Vec<&'static str>,
}

/// GPUs of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimGpu {
    pub name: &'static str,
    pub manufacturer: &'static str,
    pub count: u64,
    pub logical_count: u64,
    pub memory_mib: u64,
}

impl SimInstanceType {
    pub fn new(name: &str, vcpu: u64, memory_mib: u64, architectures: &[&'static str]) -> Self {
        let architectures = architectures.to_vec();
        Self { name: name.to_owned(), vcpu, memory_mib, gpus: Vec::new(), architectures }
    }

    /// Adds GPUs.
    pub fn with_gpus(mut self, name: &'static str, manufacturer: &'static str, count: u64, memory_mib: u64) -> Self {
        self.gpus.push(SimGpu { name, manufacturer, count, logical_count: count.max(1), memory_mib });
        self
    }
}

pub(super) fn types() -> BTreeMap<String, SimInstanceType> {
    let one = SimInstanceType::new;
    let (x86, arm, old) = (&["x86_64"][..], &["arm64"][..], &["i386", "x86_64"][..]);
    let all = [
        one("a1.2xlarge", 8, 16_384, arm),
        one("g4dn.xlarge", 4, 16_384, x86).with_gpus("T4", "NVIDIA", 1, 16_384),
        one("g5g.xlarge", 4, 8_192, arm).with_gpus("T4g", "NVIDIA", 1, 16_384),
        one("g6f.large", 2, 8_192, x86).with_gpus("L4", "NVIDIA", 0, 2_861),
        one("inf1.xlarge", 4, 8_192, x86),
        one("m1.small", 1, 1_740, old),
        one("m5.large", 2, 8_192, x86),
        one("m6g.4xlarge", 16, 65_536, arm),
        one("m6i.8xlarge", 32, 131_072, x86),
        one("mac2.metal", 8, 16_384, &["arm64_mac"]),
        one("p2.16xlarge", 64, 749_568, x86).with_gpus("K80", "NVIDIA", 16, 12_288),
        one("p4d.24xlarge", 96, 1_179_648, x86).with_gpus("A100", "NVIDIA", 8, 40_960),
        one("p5.48xlarge", 192, 2_097_152, x86).with_gpus("H100", "NVIDIA", 8, 81_920),
        one("t2.micro", 1, 1_024, old),
    ];
    all.into_iter().map(|one| (one.name.clone(), one)).collect()
}
