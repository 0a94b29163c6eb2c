//! A terminal for tests: the real binary behind a pty, and a screen that obeys what it writes.
//!
//! Always true:
//! - nothing sleeps: a wait ends when its condition holds, and fails at a deadline with the screen in its message;
//! - conditions are asked between frames, never in the middle of one (`?2026`);
//! - questions are answered as a terminal would: where the cursor is, what is behind the text, what kind it is;
//! - the program's environment is empty but for `TERM` and what the test gives it.
//!
//! Not here: what the programs under test are (`tests/terminal/`, `tests/console/`).
//!
//! Each test binary uses its part of this.
#![allow(dead_code, reason = "every test binary that includes this file uses another part of it")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// Generous: machines that run tests are busy, and a wait that succeeds does not take it.
const DEADLINE: Duration = Duration::from_secs(60);
/// How long a key may take to show before it is sent again.
const HEARD: Duration = Duration::from_millis(100);
/// How often a condition that bytes don't announce is asked for.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// Keys as terminals send them.
pub mod keys {
    pub const ENTER: &str = "\r";
    pub const ESC: &str = "\x1b";
    pub const TAB: &str = "\t";
    pub const BACKSPACE: &str = "\x7f";
    pub const UP: &str = "\x1b[A";
    pub const DOWN: &str = "\x1b[B";
    pub const RIGHT: &str = "\x1b[C";
    pub const LEFT: &str = "\x1b[D";
    pub const PAGE_UP: &str = "\x1b[5~";
    pub const PAGE_DOWN: &str = "\x1b[6~";
    pub const HOME: &str = "\x1b[H";
    pub const END: &str = "\x1b[F";
    pub const CTRL_C: &str = "\x03";
    pub const CTRL_L: &str = "\x0c";
    pub const CTRL_Z: &str = "\x1a";
    pub const FOCUS_GAINED: &str = "\x1b[I";
    pub const FOCUS_LOST: &str = "\x1b[O";

    /// A click at a column and row from 0.
    pub fn click(column: u16, row: u16) -> String {
        let (x, y) = (column + 1, row + 1);
        format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m")
    }

    /// Text as a terminal pastes it.
    pub fn paste(text: &str) -> String {
        format!("\x1b[200~{text}\x1b[201~")
    }
}

/// A program to start.
pub struct Program {
    command: CommandBuilder,
    columns: u16,
    rows: u16,
    background: Option<(u8, u8, u8)>,
}

impl Program {
    /// A program with an empty environment, on 80 × 24.
    pub fn new(path: impl AsRef<OsStr>) -> Self {
        let mut command = CommandBuilder::new(path);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        Self { command, columns: 80, rows: 24, background: None }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub fn args(self, args: &[&str]) -> Self {
        args.iter().fold(self, |program, arg| program.arg(arg))
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn folder(mut self, path: impl AsRef<OsStr>) -> Self {
        self.command.cwd(path);
        self
    }

    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    /// What the terminal says is behind its text. Without, it does not answer that question.
    pub fn background(mut self, rgb: (u8, u8, u8)) -> Self {
        self.background = Some(rgb);
        self
    }

    pub fn start(self) -> Pty {
        let pair = native_pty_system().openpty(pty_size(self.columns, self.rows)).unwrap();
        let termios_before = termios(&*pair.master);
        let writer = pair.master.take_writer().unwrap();
        let bytes = read_all(pair.master.try_clone_reader().unwrap());
        let child = pair.slave.spawn_command(self.command).unwrap();
        let watch = Watch { background: self.background, ..Watch::default() };
        let [rows, columns] = [self.rows, self.columns].map(|size| size.try_into().unwrap());
        let terminal = vt100::Parser::new_with_callbacks(rows, columns, 0, watch);
        Pty {
            master: pair.master,
            slave: Some(pair.slave),
            child,
            writer,
            bytes,
            terminal,
            termios_before,
            transcript: Vec::new(),
        }
    }
}

/// A program behind a terminal.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    /// Kept open, so that the terminal's settings can be read after the program ended.
    slave: Option<Box<dyn SlavePty + Send>>,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    bytes: Receiver<Vec<u8>>,
    terminal: vt100::Parser<Watch>,
    termios_before: String,
    /// Everything the program wrote.
    transcript: Vec<u8>,
}

/// Modes that are on. All off is how a program finds a terminal and has to leave it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Modes {
    pub alternate_screen: bool,
    pub mouse: bool,
    pub paste: bool,
    pub cursor_hidden: bool,
    pub focus: bool,
    /// In the middle of a frame.
    pub synchronized: bool,
    /// Titles pushed and not popped.
    pub titles: i32,
    /// Levels of the keyboard protocol.
    pub keyboard: i32,
    /// Whether the next letter would be coloured or bold.
    pub styled: bool,
}

impl Pty {
    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Waits until the screen is as wanted.
    ///
    /// # Panics
    /// With the screen, when it is not in time, or the program ended.
    #[track_caller]
    pub fn wait_for(&mut self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) {
        self.wait(what, |pty| condition(pty.terminal.screen()));
    }

    /// Sends keys until the screen is as wanted: for keys that are dropped while the program does not read yet, or answers that
    /// are not final yet. Sending them twice has to be the same as once.
    #[track_caller]
    pub fn send_until(&mut self, keys: &str, what: &str, condition: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !condition(&self.text()) {
            assert!(Instant::now() < deadline, "waited in vain for {what}\n{}", self.picture());
            self.send(keys);
            self.bytes_within(HEARD);
        }
    }

    /// Waits until the text is somewhere on the screen, within a line.
    #[track_caller]
    pub fn wait_for_text(&mut self, text: &str) {
        self.wait_for(&format!("the text {text:?}"), |screen| lines(screen).iter().any(|line| line.contains(text)));
    }

    /// Waits until the modes are as wanted.
    #[track_caller]
    pub fn wait_for_modes(&mut self, what: &str, condition: impl Fn(&Modes) -> bool) {
        self.wait(what, |pty| condition(&pty.modes()));
    }

    /// Waits until the program wrote these bytes after the first `from`, and the frame they are in ended.
    #[track_caller]
    pub fn wait_for_bytes(&mut self, what: &str, bytes: &[u8], from: usize) {
        self.wait(what, |pty| pty.transcript[from..].windows(bytes.len()).any(|window| window == bytes));
    }

    /// Takes in what the program writes until it is silent for this long.
    #[track_caller]
    pub fn wait_until_silent(&mut self, time: Duration) {
        let deadline = Instant::now() + DEADLINE;
        while self.bytes_within(time) > 0 {
            assert!(Instant::now() < deadline, "the program does not fall silent\n{}", self.picture());
        }
    }

    /// Waits until the terminal's own settings are as wanted.
    #[track_caller]
    pub fn wait_for_termios(&mut self, what: &str, condition: impl Fn(&str) -> bool) {
        self.wait(what, |pty| condition(&pty.termios()));
    }

    /// Waits until the program was stopped by a signal.
    #[track_caller]
    pub fn wait_until_stopped(&mut self) {
        self.wait("the program to stop", |pty| pty.is_stopped());
    }

    /// Waits for the program's end and takes in all it wrote.
    #[track_caller]
    pub fn wait_for_exit(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // Only this process has the terminal open: closing it ends the reader.
                let termios = self.termios();
                self.slave = None;
                while let Ok(bytes) = self.bytes.recv() {
                    self.take_in(&bytes);
                }
                self.check_settings_kept(&termios);
                return status;
            }
            assert!(Instant::now() < deadline, "the program did not end\n{}", self.picture());
            self.pump(ASK_AGAIN);
        }
    }

    /// The program's own end and the terminal as it found it: settings and modes.
    #[track_caller]
    pub fn expect_clean_exit(&mut self) -> ExitStatus {
        let status = self.wait_for_exit();
        assert_eq!(self.modes(), Modes::default(), "modes were left on\n{}", self.picture());
        status
    }

    /// How many bytes come in this time: for the proof that an idle program writes none.
    pub fn bytes_within(&mut self, time: Duration) -> usize {
        let (start, before) = (Instant::now(), self.transcript.len());
        while let Some(left) = time.checked_sub(start.elapsed()) {
            self.pump(left);
        }
        self.transcript.len() - before
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        self.master.resize(pty_size(columns, rows)).unwrap();
    }

    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    pub fn pid(&self) -> Pid {
        let id = self.child.process_id().expect("a started program has an id");
        Pid::from_raw(id.try_into().unwrap()).unwrap()
    }

    pub fn screen(&self) -> &vt100::Screen {
        self.terminal.screen()
    }

    /// The screen's lines, without the spaces at their ends.
    pub fn text(&self) -> String {
        lines(self.screen()).join("\n")
    }

    pub fn modes(&self) -> Modes {
        let (screen, watch) = (self.terminal.screen(), self.terminal.callbacks());
        Modes {
            alternate_screen: screen.alternate_screen(),
            mouse: screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
            paste: screen.bracketed_paste(),
            cursor_hidden: screen.hide_cursor(),
            focus: watch.private.contains(&1004),
            synchronized: watch.private.contains(&2026),
            titles: watch.titles_aside,
            keyboard: watch.keyboard,
            styled: screen.attributes_formatted() != vt100::Parser::default().screen().attributes_formatted(),
        }
    }

    /// The settings of the terminal: echo, lines, signals and the rest.
    pub fn termios(&self) -> String {
        termios(&*self.master)
    }

    /// The settings before the program started.
    pub fn termios_before(&self) -> &str {
        &self.termios_before
    }

    /// The title the window has.
    pub fn title(&self) -> &str {
        &self.terminal.callbacks().title
    }

    /// Everything the program wrote so far.
    pub fn transcript(&self) -> &[u8] {
        &self.transcript
    }

    /// What was copied last, as base64.
    pub fn clipboard(&self) -> &str {
        &self.terminal.callbacks().clipboard
    }

    /// The screen in a frame, for messages.
    pub fn picture(&self) -> String {
        let (rows, columns) = self.screen().size();
        let edge = "-".repeat(usize::from(columns.get()));
        format!("+{edge}+ {columns} x {rows}, {:?}\n{}\n+{edge}+", self.modes(), self.text())
    }

    #[track_caller]
    fn wait(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            // All that is there already, so that no condition is asked of an old screen.
            while let Ok(bytes) = self.bytes.try_recv() {
                self.take_in(&bytes);
            }
            let in_frame = self.terminal.callbacks().private.contains(&2026);
            if !in_frame && condition(self) {
                return;
            }
            assert!(Instant::now() < deadline, "waited in vain for {what}\n{}", self.picture());
            let ended = self.child.try_wait().unwrap();
            if let Some(status) = ended {
                self.slave = None;
                while let Ok(bytes) = self.bytes.recv() {
                    self.take_in(&bytes);
                }
                assert!(condition(self), "the program ended ({status}) before {what}\n{}", self.picture());
                return;
            }
            self.pump(ASK_AGAIN);
        }
    }

    /// Takes in bytes, waiting for the first at most this long.
    fn pump(&mut self, wait: Duration) {
        match self.bytes.recv_timeout(wait) {
            Ok(bytes) => self.take_in(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            // The program closed the terminal: nothing will come, and the caller asks whether it ended.
            Err(RecvTimeoutError::Disconnected) => thread::yield_now(),
        }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        self.transcript.extend_from_slice(bytes);
        self.terminal.process(bytes);
        let answers = std::mem::take(&mut self.terminal.callbacks_mut().answers);
        if !answers.is_empty() {
            // A program that ended before it heard the answer does not care for it.
            let _ = self.writer.write_all(&answers).and_then(|()| self.writer.flush());
        }
    }

    fn is_stopped(&self) -> bool {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        rustix::process::waitid(WaitId::Pid(self.pid()), options).unwrap().is_some_and(|status| status.stopped())
    }

    #[track_caller]
    fn check_settings_kept(&self, after: &str) {
        assert_eq!(after, self.termios_before, "the terminal's settings were not set back\n{}", self.picture());
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A failed test leaves its program running; one that ended can't be killed any more.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// What the screen itself does not keep.
#[derive(Default)]
struct Watch {
    answers: Vec<u8>,
    /// Private modes that are set and that the screen does not know.
    private: BTreeSet<u16>,
    titles_aside: i32,
    keyboard: i32,
    title: String,
    clipboard: String,
    background: Option<(u8, u8, u8)>,
}

impl vt100::Callbacks for Watch {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.clipboard = String::from_utf8_lossy(data).into_owned();
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        mark: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        end: char,
    ) {
        let first = parameters.first().and_then(|parameter| parameter.first()).copied().unwrap_or(0);
        match (mark, end) {
            (None, 'n') if first == 6 => {
                let (row, column) = screen.cursor_position();
                self.answers.extend_from_slice(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes());
            }
            (None, 'c') => self.answers.extend_from_slice(b"\x1b[?62;22c"),
            (None, 't') if first == 22 => self.titles_aside += 1,
            (None, 't') if first == 23 => self.titles_aside -= 1,
            (Some(b'>'), 'u') => self.keyboard += 1,
            (Some(b'<'), 'u') => self.keyboard -= 1,
            (Some(b'?'), 'h') => {
                self.private.insert(first);
            }
            (Some(b'?'), 'l') => {
                self.private.remove(&first);
            }
            // Sequences the tests have no question about.
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, parameters: &[&[u8]]) {
        if let ([b"11", b"?"], Some((red, green, blue))) = (parameters, self.background) {
            let answer = format!("\x1b]11;rgb:{red:02x}{red:02x}/{green:02x}{green:02x}/{blue:02x}{blue:02x}\x1b\\");
            self.answers.extend_from_slice(answer.as_bytes());
        }
    }
}

fn read_all(mut reader: Box<dyn Read + Send>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut space = vec![0; 64 * 1024];
        // The end is an error on Linux and nothing elsewhere.
        while let Ok(count @ 1..) = reader.read(&mut space) {
            if sender.send(space[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

fn lines(screen: &vt100::Screen) -> Vec<String> {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).map(|line| line.trim_end().to_owned()).collect()
}

fn pty_size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn termios(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a pty has settings"))
}
