//! What a process cost: wall time, CPU time and peak memory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::server::Server;

/// How often memory is read while a process runs.
const SAMPLE: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub wall: f64,
    pub cpu: f64,
    pub peak_mb: f64,
}

impl Cost {
    /// The run with the median CPU time.
    pub fn median(mut runs: Vec<Self>) -> Self {
        runs.sort_by(|one, other| one.cpu.total_cmp(&other.cpu));
        runs[runs.len() / 2]
    }
}

/// `trueup plan` over every context of the fleet.
pub fn plan(server: &Server) -> Cost {
    let mut command = server.trueup();
    command.args(["plan", "--all-contexts", "--settle", "0s", "-o", "json"]);
    run(command)
}

fn run(mut command: Command) -> Cost {
    let output = tempfile::tempfile().unwrap();
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null()).spawn().unwrap();
    let process = Process(child.id());
    let (mut peak_mb, mut cpu) = (0.0_f64, 0.0_f64);
    loop {
        peak_mb = peak_mb.max(process.peak_mb());
        cpu = cpu.max(process.cpu_seconds());
        if let Some(status) = child.try_wait().unwrap() {
            let code = status.code();
            assert!(matches!(code, Some(0 | 2 | 3)), "plan ended with {code:?}");
            return Cost { wall: start.elapsed().as_secs_f64(), cpu, peak_mb };
        }
        std::thread::sleep(SAMPLE);
    }
}

/// A running process, by its id.
#[derive(Clone, Copy)]
pub struct Process(pub u32);

impl Process {
    /// CPU time of all its threads so far, to the nanosecond. Zero once it ended.
    pub fn cpu_seconds(self) -> f64 {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.0)) else { return 0.0 };
        let nanoseconds = |thread: &Path| -> f64 {
            let text = std::fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
            text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
        };
        threads.filter_map(Result::ok).map(|thread| nanoseconds(&thread.path())).sum::<f64>() / 1e9
    }

    pub fn peak_mb(self) -> f64 {
        self.status_mb("VmHWM:")
    }

    pub fn resident_mb(self) -> f64 {
        self.status_mb("VmRSS:")
    }

    fn status_mb(self, field: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0.0) / 1024.0
    }
}
