//! The console on a fleet: how soon it shows something, and what a change costs from the watch to the screen.

use std::time::{Duration, Instant};

use super::process::Process;
use super::pty::{Program, Pty};
use super::server::{Api, Server};

const COLUMNS: u16 = 200;
const ROWS: u16 = 50;
/// Changes whose cost is averaged.
const CHANGES: usize = 40;
/// A storm: so many changes, one right after another.
const STORM: usize = 2_000;
/// The console has come to rest when it spent less than this share of a core over [`REST`].
const REST_SHARE: f64 = 0.02;
const REST: Duration = Duration::from_millis(500);
/// The longest wait for that.
const REST_MAX: Duration = Duration::from_secs(300);

pub struct ConsoleCost {
    first_frame: Duration,
    all_rows: Duration,
    resident_mb: f64,
    /// CPU seconds of one change, from the watch to the screen.
    change: f64,
    /// CPU seconds per second of a storm.
    storm: f64,
}

impl ConsoleCost {
    pub fn cells(&self) -> String {
        let Self { first_frame, all_rows, resident_mb, change, storm } = self;
        let (first, all) = (first_frame.as_secs_f64() * 1e3, all_rows.as_secs_f64());
        format!("{first:.0} | {all:.2} | {resident_mb:.0} | {:.2} | {:.1}", change * 1e3, storm * 100.0)
    }
}

pub fn measure(server: &Server) -> ConsoleCost {
    let (guest, address) = server.first_guest();
    let api = Api(address);
    let start = Instant::now();
    let mut console = Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["--all-contexts", "--kubeconfig"])
        .arg(server.kubeconfig())
        .env("HOME", server.home())
        .size(COLUMNS, ROWS)
        .start();
    console.wait_for("the first frame", |screen| screen.contents().contains("trueup"));
    let first_frame = start.elapsed();
    let process = Process(console.pid().as_raw_nonzero().get().unsigned_abs());
    console.wait_for("the first guest's findings", |screen| row_of(screen, &guest).contains('='));
    let at_rest = rest(&mut console, process);
    let all_rows = at_rest.duration_since(start);
    let change = changes(&mut console, process, &api, &guest);
    let storm = storm(&mut console, process, &api);
    ConsoleCost { first_frame, all_rows, resident_mb: process.resident_mb(), change, storm }
}

/// Waits until the console has nothing left to do. Returns when that began.
fn rest(console: &mut Pty, process: Process) -> Instant {
    let deadline = Instant::now() + REST_MAX;
    loop {
        let (began, before) = (Instant::now(), process.cpu_seconds());
        console.bytes_within(REST);
        let share = (process.cpu_seconds() - before) / began.elapsed().as_secs_f64();
        if share < REST_SHARE {
            return began;
        }
        assert!(Instant::now() < deadline, "the console does not come to rest\n{}", console.picture());
    }
}

/// CPU seconds of one change that is seen on the screen.
fn changes(console: &mut Pty, process: Process, api: &Api, guest: &str) -> f64 {
    let mut spent = 0.0;
    for number in 0..CHANGES / 2 {
        let name = format!("bench-orphan-{number}");
        for change in [Api::create_orphan as fn(&Api, &str), Api::delete] {
            let row = row_of(console.screen(), guest);
            let before = process.cpu_seconds();
            change(api, &name);
            console.wait_for("the change on the screen", |screen| row_of(screen, guest) != row);
            spent += process.cpu_seconds() - before;
        }
    }
    spent / CHANGES as f64
}

/// The share of a core that the console uses while one object changes as fast as one connection a change allows.
fn storm(console: &mut Pty, process: Process, api: &Api) -> f64 {
    let name = "bench-storm";
    api.create_orphan(name);
    rest(console, process);
    let (began, before) = (Instant::now(), process.cpu_seconds());
    for number in 0..STORM {
        api.touch(name, number);
        if number % 50 == 0 {
            console.bytes_within(Duration::ZERO);
        }
    }
    let share = (process.cpu_seconds() - before) / began.elapsed().as_secs_f64();
    api.delete(name);
    share
}

/// The line of a cluster, up to the columns that change with time.
fn row_of(screen: &vt100::Screen, cluster: &str) -> String {
    let text = screen.contents();
    let line = text.lines().find(|line| line.contains(cluster)).unwrap_or_default();
    // Cluster, class, source, link and the first check: the ages are further right.
    line.chars().take(90).collect()
}
