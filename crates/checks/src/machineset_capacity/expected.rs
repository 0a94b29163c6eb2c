//! What a node of an instance type would be like.
//!
//! Invariants: nothing is guessed. A type of which cpu, memory or architecture is not known has no expectation.

use std::collections::BTreeSet;

use super::facts::{Gpu, InstanceType};
use super::verdict::Code;

/// A node as an autoscaler has to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    pub cpus: u64,
    pub memory_mib: u64,
    pub gpus: u64,
    pub gpu_type: GpuType,
    pub arch: Arch,
}

trueup_core::named_enum! {
    /// The architectures Kubernetes nodes on EC2 have.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Arch {
        Amd64 = "amd64",
        Arm64 = "arm64",
    }
}

impl Arch {
    /// EC2 names what a machine can be started as, older ones first; the whole list counts.
    fn among(names: &[impl AsRef<str>]) -> Option<Self> {
        names.iter().find_map(|name| match name.as_ref() {
            "x86_64" => Some(Self::Amd64),
            "arm64" => Some(Self::Arm64),
            _ => None,
        })
    }
}

/// The resource a pod asks for to get a GPU of this maker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuType {
    /// There is no GPU to ask for.
    None,
    Nvidia,
    Amd,
    /// Another maker's: what its device plugin calls it is not known here.
    Unknown,
}

impl GpuType {
    pub fn resource(self) -> Option<&'static str> {
        match self {
            Self::Nvidia => Some("nvidia.com/gpu"),
            Self::Amd => Some("amd.com/gpu"),
            Self::None | Self::Unknown => None,
        }
    }

    fn of(gpus: &[Gpu]) -> Self {
        let whole = || gpus.iter().filter(|gpu| gpu.whole > 0);
        let made_by = |maker: &str| whole().any(|gpu| gpu.maker.eq_ignore_ascii_case(maker));
        if whole().next().is_none() {
            Self::None
        } else if made_by("NVIDIA") {
            Self::Nvidia
        } else if made_by("AMD") {
            Self::Amd
        } else {
            Self::Unknown
        }
    }
}

impl Expected {
    /// What the type says, with what is odd about it.
    ///
    /// # Errors
    /// Why nothing can be said, as codes.
    pub fn of(offered: &InstanceType) -> Result<(Self, BTreeSet<Code>), BTreeSet<Code>> {
        let arch = Arch::among(&offered.architectures);
        let is_empty = offered.cpus == 0 || offered.memory_mib == 0;
        let mut codes = BTreeSet::new();
        codes.extend(is_empty.then_some(Code::CapacityZero));
        codes.extend(arch.is_none().then_some(Code::ArchitectureUnknown));
        let Some(arch) = arch.filter(|_| !is_empty) else { return Err(codes) };
        let gpu_type = GpuType::of(&offered.gpus);
        let is_fraction = |gpu: &Gpu| gpu.whole == 0 && gpu.logical > 0;
        codes.extend(offered.gpus.iter().any(is_fraction).then_some(Code::FractionalGpu));
        codes.extend((gpu_type == GpuType::Unknown).then_some(Code::GpuVendorUnknown));
        let expected = Self {
            cpus: offered.cpus,
            memory_mib: offered.memory_mib,
            gpus: offered.gpus.iter().fold(0, |sum, gpu| gpu.whole.saturating_add(sum)),
            gpu_type,
            arch,
        };
        Ok((expected, codes))
    }
}
