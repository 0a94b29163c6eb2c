//! Bytes that reach the terminal: a counter per key and per label, not a clock.
//!
//! The list is as in the benchmark `screen`: Secrets of one guest at 200×50, the detail beside the list.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fixtures;
use crate::console::event::What;
use crate::console::model::REST;
use crate::console::terminal::{ColorDepth, Dialect, Writer};
use crate::console::testing::{TestConsole, after, now};
use crate::console::theme::{DEFAULT, GlyphSet, Themes};
use crate::console::view::{Appearance, view};
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{Judgement, State, SubjectId};
use trueup_core::world::{ClusterName, Gap, GapCause, Link, RiskClass};
use trueup_fleet::live::Update;

const SCREEN: Rect = Rect { x: 0, y: 0, width: 200, height: 50 };
/// Interval of a held key.
const REPEAT: Duration = Duration::from_millis(40);

/// A console with a terminal that counts bytes.
struct Counted {
    stage: TestConsole,
    appearance: Appearance,
    writer: Writer,
    shown: Buffer,
}

impl Counted {
    /// Many findings that differ in their names and in when they were judged.
    fn new(theme: &str) -> Self {
        let guest = ClusterName::new("guest-payments");
        let finding = |index: usize| {
            let subject = SubjectId {
                domain: fixtures::COPIES,
                cluster: guest.clone(),
                api_version: "v1",
                kind: "Secret",
                namespace: Some("openshift-config".to_owned()),
                name: format!("ext-auth-client-{:06}", index * 7919 % 1_000_003),
                cloud: None,
            };
            let (state, verdict) = (State::Extra, "orphan-certain");
            let judgement = Judgement { state, verdict, codes: Vec::new(), ownership_proofs: 2, until: None };
            let since = now() - jiff::SignedDuration::from_secs(i64::try_from(index % 50).unwrap() * 7);
            (Arc::new(subject), Some(Arc::new(CurrentJudgement::new(judgement, since))))
        };
        let live = fixtures::cluster("guest-payments", RiskClass::Prod, Link::Live { since: now() });
        let mut stage = TestConsole::started();
        stage.event(What::Resize { width: SCREEN.width, height: SCREEN.height });
        let findings: BTreeMap<_, _> = (0..10_000).map(finding).collect();
        stage.data(Update { findings, clusters: [(guest, Some(live))].into(), ..Update::default() });
        stage.keys("1").explained().rest();
        Self::of(stage, theme)
    }

    /// A fleet of clusters that are all waiting for their next attempt to connect.
    fn retrying() -> Self {
        let cluster = |number: i64| {
            let gap = Gap::new(GapCause::Silent, "the watch of secrets has been silent for 90 s");
            let link = Link::Degraded { gap, retry_at: after(40 + number * 7) };
            let name = format!("mgmt-{number:02}");
            (ClusterName::new(name.as_str()), Some(fixtures::cluster(&name, RiskClass::Prod, link)))
        };
        let mut stage = TestConsole::started();
        stage.event(What::Resize { width: SCREEN.width, height: SCREEN.height });
        stage.data(Update { clusters: (0..40).map(cluster).collect(), ..Update::default() });
        Self::of(stage, DEFAULT)
    }

    fn of(stage: TestConsole, theme: &str) -> Self {
        let theme = Themes::built_in().resolve(theme).unwrap();
        let appearance = Appearance { theme, signs: GlyphSet::Unicode };
        let writer = Writer::new(ColorDepth::True, Dialect::Xterm);
        let mut counted = Self { stage, appearance, writer, shown: Buffer::empty(SCREEN) };
        counted.frame();
        counted
    }

    /// Draws a frame; returns its bytes.
    fn frame(&mut self) -> usize {
        self.draw().0
    }

    /// Draws a frame; returns its bytes, and when a label changes.
    fn draw(&mut self) -> (usize, Option<jiff::Timestamp>) {
        let mut next = Buffer::empty(SCREEN);
        let drawn = view(&self.stage.model, &self.appearance, SCREEN, &mut next);
        let count = self.writer.frame(&mut self.shown, &next, drawn.cursor).len();
        self.shown = next;
        (count, drawn.changes_at)
    }

    /// Draws whenever a label changes; returns bytes and wake-ups.
    fn idle(&mut self, seconds: i64) -> (usize, i64) {
        let end = self.stage.model.now + jiff::SignedDuration::from_secs(seconds);
        let (mut bytes, mut frames) = (0, 0);
        loop {
            let (count, next) = self.draw();
            bytes += count;
            let Some(at) = next.filter(|at| *at < end) else { return (bytes, frames) };
            let wait = at.duration_since(self.stage.model.now);
            self.stage.later(wait.unsigned_abs());
            frames += 1;
        }
    }

    /// Holds a key; returns the most bytes of a repetition.
    fn hold(&mut self, key: &str, times: usize) -> usize {
        let press = |_| {
            self.stage.later(REPEAT).keys(key);
            self.frame()
        };
        (0..times).map(press).max().unwrap()
    }
}

/// Two rows of the list have 2 × 107 columns. What is around them is attributes: seven changes a row of 3 to 12 bytes, or
/// of 10 to 38 with exact colours, and two for a name in bold; the title of the detail, and 30 bytes around the frame. A rival writes 571 bytes.
#[test]
fn a_held_cursor_key_writes_two_rows_and_a_title() {
    for (theme, most, scrolling_most) in [(DEFAULT, 360, 360), ("night", 570, 760)] {
        let mut counted = Counted::new(theme);
        counted.stage.keys("j");
        counted.frame();
        let within = counted.hold("j", 30);
        assert!(within <= most, "{theme}: {within} bytes");
        // The window scrolls: its lines are moved by the terminal, and one row is new. A theme with a background fills that
        // line in both panes.
        counted.hold("j", 20);
        let scrolling = counted.hold("j", 50);
        assert!(scrolling <= scrolling_most, "{theme}: {scrolling} bytes while scrolling");
    }
}

#[test]
fn the_detail_is_written_once_when_the_cursor_rests() {
    let mut counted = Counted::new(DEFAULT);
    counted.stage.keys("j");
    counted.frame();
    counted.hold("j", 10);
    counted.stage.later(REST.unsigned_abs());
    assert_eq!(counted.frame(), 0, "the pane is empty until the reply");
    counted.stage.explained();
    assert!(counted.frame() > 0);
    assert_eq!(counted.stage.model.deadline(), None);
    assert_eq!(counted.frame(), 0);
}

/// 22 bytes a second: what an idle rival writes. Labels in minutes change together, every ten seconds at most.
#[test]
fn an_idle_list_writes_at_most_22_bytes_a_second() {
    const IDLE: i64 = 600;
    let mut counted = Counted::new(DEFAULT);
    let (bytes, frames) = counted.idle(IDLE);
    assert!(frames <= IDLE / 10 + 1, "{frames} wake-ups in ten minutes");
    assert!(bytes <= 22 * usize::try_from(IDLE).unwrap(), "{} bytes a second", bytes as f64 / IDLE as f64);
}

/// One countdown in seconds: that of the selected cluster. The others are in minutes.
#[test]
fn an_idle_fleet_with_a_countdown_writes_at_most_60_bytes_a_second() {
    const IDLE: i64 = 30;
    let mut counted = Counted::retrying();
    let (bytes, frames) = counted.idle(IDLE);
    assert_eq!(frames, IDLE - 1, "one wake-up a second");
    assert!(bytes > 0 && bytes <= 60 * usize::try_from(IDLE).unwrap(), "{} bytes a second", bytes as f64 / IDLE as f64);
}
