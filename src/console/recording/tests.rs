//! Sessions of the test console: recorded, replayed, cut off, and from another version.

use std::io::{BufReader, Cursor};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{FrameCheck, Line, Piece, Player, Read, ReadError, Reader, RecordingSink};
use crate::console::capture;
use crate::console::event::What;
use crate::console::task::{Planned, Stage, TaskReply};
use crate::console::testing::TestConsole;
use crate::console::tests::fixtures;
use crate::console::theme::Themes;
use trueup_core::engine::State;
use trueup_core::engine::executor::ActionResult;
use trueup_core::engine::journal::VerifiedState;
use trueup_core::redact::CredentialValues;
use trueup_core::world::{ClusterName, Link, RiskClass};
use trueup_fleet::live::Update;

/// A recording in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl RecordingSink for Memory {
    fn put(&mut self, piece: Piece) {
        self.0.lock().unwrap().extend(piece.into_bytes());
    }
}

impl Memory {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// A session, its recording, and its frames as text.
struct Session {
    console: TestConsole,
    memory: Memory,
    frames: Vec<String>,
}

impl Session {
    /// The full fleet, recorded from the first event on.
    fn full() -> Self {
        let memory = Memory::default();
        let console = TestConsole::recorded(Box::new(memory.clone()));
        let mut session = Self { console, memory, frames: Vec::new() };
        session.draw(120, 40);
        session.console.reply(TaskReply::Started(Box::new(fixtures::start())));
        session.console.reply(TaskReply::Settings(Box::new(fixtures::settings())));
        session.draw(120, 40);
        session.console.data(Update { clusters: fixtures::clusters_before(), ..Update::default() });
        session.console.data(Update::of(fixtures::findings()));
        session.console.data(Update { clusters: fixtures::clusters(), ..Update::default() });
        session.draw(120, 40);
        session
    }

    fn draw(&mut self, width: u16, height: u16) {
        let theme = Themes::built_in().resolve(&self.console.model.theme).unwrap_or_default();
        self.frames.push(capture::text(&self.console.buffer(width, height, theme)).into());
    }

    /// Presses keys one by one, with a frame after each.
    fn keys(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ') {
            self.console.later(Duration::from_millis(120)).keys(key);
            self.draw(120, 40);
        }
        self
    }

    fn reply(&mut self, reply: TaskReply) -> &mut Self {
        self.console.reply(reply);
        self.draw(120, 40);
        self
    }

    fn planned(&mut self) {
        let ask = self.console.model.planning.unwrap();
        let plan = Planned {
            plan: fixtures::plan(fixtures::actions()),
            left_out: vec!["one thing".to_owned()],
            objects: fixtures::objects(),
        };
        self.reply(TaskReply::Planned { ask, plan: Ok(Box::new(plan)) });
    }

    /// Replays the recording. Returns the frames as text, and how each compares.
    fn replayed(&self) -> (Vec<String>, Vec<FrameCheck>) {
        replayed(self.memory.text().as_bytes()).unwrap()
    }
}

fn replayed(bytes: &[u8]) -> Result<(Vec<String>, Vec<FrameCheck>), ReadError> {
    let mut reader = Reader::open(BufReader::new(Cursor::new(bytes)))?;
    let mut player = None;
    let (mut frames, mut checks) = (Vec::new(), Vec::new());
    while let Read::Line(line) = reader.next_line()? {
        match (*line, &mut player) {
            (Line::Opened(opened), player) => *player = Some(Player::new(opened)),
            (line, Some(player)) => {
                if let Some(check) = player.take(line) {
                    checks.push(check);
                    frames.push(capture::text(player.shown()).into());
                }
            }
            (line, None) => panic!("before the start: {line:?}"),
        }
    }
    Ok((frames, checks))
}

#[test]
fn a_recorded_session_replays_to_the_same_frames_byte_for_byte() {
    let mut session = Session::full();
    session.keys("j j / g u e s t enter esc 1 j j");
    session.console.explained();
    session.draw(80, 24);
    session.draw(60, 20);
    session.console.event(What::Paste("nowhere".to_owned()));
    session.keys("space : t h e m esc ? esc s esc - - home v");
    let ask = session.console.model.object.as_ref().unwrap().ask;
    session.reply(TaskReply::Object { ask, object: Ok(Box::new(fixtures::sheet())) });
    session.keys("down e 1 r");
    session.planned();
    session.keys("j d space D 2 j j T down enter U p");
    let changed = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", "ext-auth-client-old");
    session.console.data(Update::of([(changed, Some(fixtures::held(State::Match, "in-use", 0)))]));
    session.draw(120, 40);
    let lab = fixtures::cluster("lab", RiskClass::Dev, Link::Connecting);
    session.console.data(Update { clusters: [(ClusterName::new("lab"), Some(lab))].into(), ..Update::default() });
    session.keys("p 0 g a");
    let asked =
        session.console.tasks.iter().filter(|task| matches!(task, crate::console::task::Task::ReadHistory { .. }));
    let asked = u64::try_from(asked.count()).unwrap();
    session.reply(TaskReply::History { asked, entries: Ok(fixtures::journal()) });
    session.reply(TaskReply::Notice { message: "a message".to_owned() });
    session.keys("g l");
    session.reply(TaskReply::Log { lines: vec!["one".to_owned(), "two".to_owned()] });
    session.console.later(Duration::from_secs(90));
    session.draw(200, 60);

    let (frames, checks) = session.replayed();
    assert_eq!(checks.len(), session.frames.len());
    for (number, (frame, expected)) in frames.iter().zip(&session.frames).enumerate() {
        assert_eq!(frame, expected, "frame {number}");
    }
    assert!(checks.iter().all(|check| *check == FrameCheck::Same), "{checks:?}");
}

#[test]
fn text_typed_into_a_query_is_not_recorded() {
    let mut session = Session::full();
    session.keys("2 i");
    session.console.letters("secret-Token.42 x");
    session.console.event(What::Paste("pasted-Token".to_owned()));
    session.draw(120, 40);
    let text = session.memory.text();
    for secret in ["pasted", "Token"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let typed: String = text
        .lines()
        .rev()
        .filter_map(|line| line.split_once("\"Char\":\"").and_then(|(_, rest)| rest.chars().next()))
        .take("secret-Token.42 x".len())
        .collect();
    assert_eq!(typed, "x xx.xxxxx.xxxxxx");
    assert!(session.frames.last().unwrap().contains("••••••••"));
    assert!(session.frames.iter().all(|frame| !frame.contains("Token") && !frame.contains("pasted")), "echoed");
    assert!(session.replayed().1.iter().all(|check| *check == FrameCheck::Same));
}

#[test]
fn revealed_values_are_not_recorded_and_their_frames_are_not_compared() {
    let mut session = Session::full();
    session.keys("1 = / n a m e ~ c a - o l d enter v");
    let object = |session: &mut Session, password: &str| {
        let ask = session.console.model.object.as_ref().unwrap().ask;
        session.reply(TaskReply::Object { ask, object: Ok(Box::new(fixtures::sheet_with_password(password))) });
    };
    object(&mut session, "<21 bytes>");
    session.keys("x");
    assert_eq!(session.console.model.object.as_ref().unwrap().values, CredentialValues::Shown);
    object(&mut session, "shown-on-purpose-only");
    assert!(session.frames.last().unwrap().contains("shown-on-purpose-only"));
    session.keys("x");
    object(&mut session, "<21 bytes>");
    assert!(!session.memory.text().contains("on-purpose"));
    let (frames, checks) = session.replayed();
    assert!(frames.iter().all(|frame| !frame.contains("on-purpose")));
    assert!(checks.contains(&FrameCheck::Withheld) && !checks.contains(&FrameCheck::Different), "{checks:?}");
    assert_eq!(checks.last(), Some(&FrameCheck::Same));
}

#[test]
fn a_recording_that_is_cut_off_replays_to_its_last_whole_line() {
    let mut session = Session::full();
    session.keys("j j j");
    let text = session.memory.text();
    let cut = &text.as_bytes()[..text.len() - 20];
    let mut reader = Reader::open(BufReader::new(Cursor::new(cut))).unwrap();
    let ended = std::iter::from_fn(|| match reader.next_line().unwrap() {
        Read::Line(_) => Some(None),
        end @ (Read::End | Read::CutOff) => Some(Some(end)),
    });
    assert!(matches!(ended.flatten().next(), Some(Read::CutOff)));
    assert_eq!(replayed(cut).unwrap().0.len(), session.frames.len() - 1);
}

#[test]
fn what_is_no_recording_of_this_version_is_refused_with_one_sentence() {
    let text = Session::full().memory.text();
    let (header, rest) = text.split_once('\n').unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let damaged = format!("{header}\n{{\"event\":1}}\n{rest}");
    let cases = [
        ("another version", text.replacen(version, "9.9.9", 1), "it was written by trueup 9.9.9 (format 1)"),
        ("another format", text.replacen(":1,", ":2,", 1), "(format 2)"),
        ("another file", "{}\n".to_owned(), "it is not a session recording"),
        ("an empty file", String::new(), "it is not a session recording"),
        ("a damaged line", damaged, "line 2 is damaged"),
    ];
    for (case, text, expected) in cases {
        let refused = replayed(text.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(expected) && !refused.contains('\n'), "case: {case}: {refused}");
    }
}

#[test]
fn a_key_costs_few_bytes() {
    let mut session = Session::full();
    let before = session.memory.text().len();
    for _ in 0..100 {
        session.keys("j");
    }
    // A key, a timer and a frame: three short lines.
    let bytes = (session.memory.text().len() - before) / 100;
    assert!(bytes < 400, "{bytes} bytes per key");
}

#[test]
fn progress_of_an_apply_is_replayed() {
    let mut session = Session::full();
    // The events of a run survive being written and read.
    for stage in [Stage::Intended, Stage::Waiting { so_far: Duration::from_secs(3), why: "x".to_owned() }] {
        session.reply(TaskReply::Progress { action: "a1".to_owned(), at: fixtures_now(), stage });
    }
    let ended = Stage::Ended(ActionResult::Done(VerifiedState::Gone));
    session.reply(TaskReply::Progress { action: "a1".to_owned(), at: fixtures_now(), stage: ended });
    assert!(session.replayed().1.iter().all(|check| *check == FrameCheck::Same));
}

fn fixtures_now() -> jiff::Timestamp {
    crate::console::testing::now()
}
