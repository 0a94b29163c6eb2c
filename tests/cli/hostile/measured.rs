//! Runs the binary and measures it: peak memory as the system counts it, and time.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::fixture::command;

/// A finished run of the binary.
pub struct Measured {
    pub output: Output,
    /// The largest resident set, in MiB: VmHWM of /proc/PID/status. Nothing where the system has no such file.
    pub peak_mib: Option<u64>,
    pub time: Duration,
}

/// How often the peak is read. The system keeps it, so only what happens after the last reading is missed.
const EVERY: Duration = Duration::from_millis(5);

/// Runs the binary with a state folder. `TRUEUP_BIN` names another build, such as the one that is released.
pub fn run_measured(dir: &TempDir, args: &[&str]) -> Measured {
    let began = Instant::now();
    let mut command = command(dir, args);
    command.env("XDG_STATE_HOME", dir.path().join("state")).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let read = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    let out = read(Box::new(child.stdout.take().unwrap()));
    let err = read(Box::new(child.stderr.take().unwrap()));
    let mut peak_mib = None;
    let status = loop {
        peak_mib = peak_of(child.id()).max(peak_mib);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(EVERY),
        }
    };
    let output = Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() };
    Measured { output, peak_mib, time: began.elapsed() }
}

fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

/// Prints one line (`--nocapture` shows it) and holds the bounds.
#[expect(clippy::print_stdout, reason = "a measurement of a test")]
pub fn report(case: &str, said: &str, measured: &Measured, peak_mib_max: u64, time_max: Duration) {
    let Measured { output, peak_mib, time } = measured;
    let peak = peak_mib.map_or_else(|| "unknown".to_owned(), |mib| format!("{mib} MiB"));
    let code = output.status.code();
    println!("hostile server: {case}: peak {peak}, {:.1} s, exit {code:?}: {said}", time.as_secs_f64());
    assert!(peak_mib.is_none_or(|mib| mib <= peak_mib_max), "{case}: peak {peak}, more than {peak_mib_max} MiB");
    assert!(*time <= time_max, "{case}: {time:?}, longer than {time_max:?}");
}
