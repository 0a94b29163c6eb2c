//! Frames that write only what changed, against a full one: the console on the demo after random keys.
//!
//! Updates are paused, so that only keys and replies to them change the screen. Two lines are left out, because time
//! changes them: the first counts waiting updates, and the last but one has messages that end. A late reply may fall
//! between the two frames: a difference therefore counts when the same keys give one again with more patience. Without
//! time: `console::tests::invariants`.

use std::time::Duration;

use crate::pty::{Program, Pty, keys};

/// Nothing that writes, leaves the console or lists again.
const KEYS: [&str; 38] = [
    "j",
    "j",
    "j",
    "j",
    "j",
    "k",
    "k",
    "k",
    keys::DOWN,
    keys::UP,
    keys::PAGE_DOWN,
    keys::PAGE_UP,
    "G",
    "gg",
    keys::TAB,
    ">",
    "<",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    keys::ENTER,
    keys::ESC,
    "/secret\r",
    keys::BACKSPACE,
    "s",
    "-",
    " ",
    "*",
    "\\",
    "d",
    "M",
    "?",
    "gl",
    "Tj\r",
    "Tjj\r",
];
const BURSTS: usize = 40;
/// How long the program is silent before a screen counts as final.
const SILENT: [Duration; 3] = [Duration::from_millis(60), Duration::from_millis(300), Duration::from_millis(1_500)];
const CLEAR: &[u8] = b"\x1b[2J";

/// A small generator: the sequences are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

struct Case {
    term: &'static str,
    more: Option<(&'static str, &'static str)>,
    columns: u16,
    rows: u16,
    seed: u64,
}

fn start(case: &Case, folder: &std::path::Path) -> Pty {
    let program = Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["demo", "--seed", "7", "--utc"])
        .env("TERM", case.term)
        .env("HOME", folder)
        .env("TMPDIR", folder)
        .env("LANG", "C.UTF-8")
        .folder(folder)
        .size(case.columns, case.rows);
    let program = case.more.into_iter().fold(program, |program, (name, value)| program.env(name, value));
    let mut pty = program.start();
    pty.wait_for_text("guest-payments");
    pty.send("p");
    pty.wait_for_text("PAUSED");
    pty
}

/// Every cell as it looks: a blank shows only its background.
fn cells(screen: &vt100::Screen) -> Vec<Vec<String>> {
    let (rows, columns) = screen.size();
    let look = |row: u16, column: u16| {
        let cell = screen.cell(row, column).unwrap();
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        if text == " " && !cell.inverse() && !cell.underline() {
            return format!("blank on {:?}", cell.bgcolor());
        }
        let weight = (cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse(), cell.is_wide());
        format!("{text} {:?} on {:?} {weight:?}", cell.fgcolor(), cell.bgcolor())
    };
    (0..rows.get()).map(|row| (0..columns.get()).map(|column| look(row, column)).collect()).collect()
}

/// Plays random keys; after each burst the screen is compared with a full redraw. Returns the first difference.
fn difference(case: &Case, silent: Duration) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut pty = start(case, folder.path());
    let mut random = Random(case.seed);
    for burst in 0..BURSTS {
        let typed: Vec<&str> = (0..1 + random.below(12)).map(|_| KEYS[random.below(KEYS.len())]).collect();
        for key in &typed {
            pty.send(key);
            if random.below(3) == 0 {
                pty.bytes_within(Duration::from_millis(5));
            }
        }
        if random.below(8) == 0 {
            let narrower = u16::try_from(random.below(30)).unwrap();
            pty.resize(case.columns - narrower, case.rows - narrower / 5);
        }
        pty.wait_until_silent(silent);
        let (before, from) = (cells(pty.screen()), pty.transcript().len());
        pty.send(keys::CTRL_L);
        pty.wait_for_bytes("a full redraw", CLEAR, from);
        let after = cells(pty.screen());
        // The time, and the message that the key removes.
        let is_timed = |row: usize| row == 0 || row + 2 >= after.len();
        let mut lines = before.iter().zip(&after).enumerate().filter(|(row, _)| !is_timed(*row));
        if let Some((row, _)) = lines.find(|(_, (one, other))| one != other) {
            let lines = format!("{:?}\n{:?}", before[row], after[row]);
            return Some(format!("burst {burst}, keys {typed:?}, line {row}:\n{lines}\n{}", pty.picture()));
        }
    }
    None
}

fn check(case: &Case) {
    let found: Vec<String> = SILENT.iter().map_while(|silent| difference(case, *silent)).collect();
    assert!(found.len() < SILENT.len(), "{} {}x{}: {}", case.term, case.columns, case.rows, found.join("\n"));
}

#[test]
fn random_keys_leave_the_screen_of_a_full_redraw_on_xterm() {
    check(&Case { term: "xterm-256color", more: Some(("COLORTERM", "truecolor")), columns: 120, rows: 40, seed: 19 });
}

#[test]
fn random_keys_leave_the_screen_of_a_full_redraw_in_tmux() {
    check(&Case { term: "tmux-256color", more: Some(("TMUX", "/tmp/tmux")), columns: 80, rows: 24, seed: 47 });
}

#[test]
fn random_keys_leave_the_screen_of_a_full_redraw_in_gnu_screen() {
    check(&Case { term: "screen.xterm-256color", more: Some(("STY", "1.pts")), columns: 160, rows: 45, seed: 5 });
}

#[test]
fn random_keys_leave_the_screen_of_a_full_redraw_on_an_unknown_terminal_without_colours() {
    check(&Case { term: "vt220", more: Some(("NO_COLOR", "1")), columns: 100, rows: 30, seed: 88 });
}
