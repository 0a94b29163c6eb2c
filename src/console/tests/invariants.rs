//! What holds whatever happens.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fixtures;
use crate::console::event::What;
use crate::console::model::Layer;
use crate::console::task::{Task, TaskReply};
use crate::console::terminal::{Ambiguous, ColorDepth, Cursor, Dialect, StrictTerminal, Writer};
use crate::console::testing::TestConsole;
use crate::console::theme::{GlyphSet, Themes};
use crate::console::view::{Appearance, view};
use trueup_core::engine::{State, SubjectId};
use trueup_fleet::live::Update;

/// A change of one of a few findings: there in some state, or gone.
fn change() -> impl Strategy<Value = (usize, Option<State>)> {
    (0..12_usize, proptest::option::of(proptest::sample::select(State::ALL.to_vec())))
}

fn changed(changes: &[(usize, Option<State>)]) -> Update {
    let one = |(number, state): &(usize, Option<State>)| {
        let id = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", &format!("copy-{number}"));
        (id, state.map(|state| fixtures::held(state, "in-use", 0)))
    };
    Update::of(changes.iter().map(one))
}

fn any_key() -> impl Strategy<Value = KeyEvent> {
    let letter = proptest::char::range('!', '~').prop_map(KeyCode::Char);
    let named = proptest::sample::select(vec![
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Char(' '),
        KeyCode::Backspace,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Delete,
        KeyCode::F(1),
    ]);
    let held = proptest::sample::select(vec![KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT]);
    (prop_oneof![4 => letter, 2 => named], prop_oneof![6 => Just(KeyModifiers::NONE), 1 => held])
        .prop_map(|(code, held)| KeyEvent::new(code, held))
}

/// Keys that move within a screen and between screens.
fn cursor_key() -> impl Strategy<Value = KeyEvent> {
    let named =
        [KeyCode::Up, KeyCode::Down, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home, KeyCode::End, KeyCode::Tab];
    let letters = ['j', 'j', 'k', '0', '1', '2'].map(KeyCode::Char);
    proptest::sample::select([&named[..], &letters[..]].concat())
        .prop_map(|code| KeyEvent::new(code, KeyModifiers::NONE))
}

/// Tells what a run, a plan or a journal would, so that keys find something to act on.
fn add_data(stage: &mut TestConsole) {
    stage.reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) });
    if let Some(ask) = stage.model.planning {
        let plan = fixtures::plan(fixtures::actions());
        let planned = crate::console::task::Planned { plan, left_out: Vec::new(), objects: Default::default() };
        stage.reply(TaskReply::Planned { ask, plan: Ok(Box::new(planned)) });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_cursor_stays_on_its_finding_until_it_is_removed(
        before in proptest::collection::vec(change(), 1..12),
        steps in 1..12_usize,
        after in proptest::collection::vec(proptest::collection::vec(change(), 1..4), 0..8),
    ) {
        let mut stage = TestConsole::started();
        stage.data(changed(&before)).keys("1");
        prop_assume!(stage.model.subject().is_some());
        (0..steps).for_each(|_| { stage.keys("j"); });
        for changes in &after {
            let held = stage.model.subject();
            stage.data(changed(changes));
            let is_shown = |held: &Arc<SubjectId>| stage.model.checks[0].order.position(held).is_some();
            let is_there = held.as_ref().is_some_and(is_shown);
            if is_there {
                prop_assert_eq!(stage.model.subject(), held);
            }
            prop_assert_eq!(stage.model.subject().is_some(), stage.model.checks[0].order.shown() > 0);
            prop_assert_eq!(&stage.model.detail.subject, &stage.model.subject(), "the detail follows");
        }
    }

    #[test]
    fn a_pause_only_delays_updates(
        before in proptest::collection::vec(change(), 0..8),
        during in proptest::collection::vec(proptest::collection::vec(change(), 1..4), 0..6),
    ) {
        let screen = |pauses: bool| {
            let mut stage = TestConsole::started();
            stage.data(changed(&before)).keys("1");
            if pauses {
                stage.keys("p");
                let frozen: Vec<_> = stage.model.findings.iter().map(|(id, held)| (id.clone(), held.clone())).collect();
                during.iter().for_each(|changes| { stage.data(changed(changes)); });
                let still: Vec<_> = stage.model.findings.iter().map(|(id, held)| (id.clone(), held.clone())).collect();
                assert_eq!(frozen, still);
                stage.keys("p");
            } else {
                // All at once, as after a pause: intermediate states are not reported.
                let mut all = Update::default();
                during.iter().for_each(|changes| all.merge(changed(changes)));
                stage.data(all);
            }
            let held: Vec<_> = stage.model.findings.iter().map(|(id, held)| (id.clone(), held.clone())).collect();
            let order: Vec<_> = stage.model.checks[0].order.window(0..99).cloned().collect();
            (held, order, stage.model.subject())
        };
        prop_assert_eq!(screen(true), screen(false));
    }

    /// No way through the keys leads to a write without an approval that was open, seen, and answered later.
    #[test]
    fn no_single_key_writes_to_a_cluster(keys in proptest::collection::vec(any_key(), 1..40)) {
        let mut stage = TestConsole::full();
        stage.keys("1 j");
        for key in keys {
            add_data(&mut stage);
            let was_asked = matches!(stage.model.layer, Some(Layer::Approval(_)));
            stage.forget().event(What::Key(key));
            let applies = stage.tasks.iter().any(|task| matches!(task, Task::Apply(_)));
            prop_assert!(!applies || was_asked, "{key:?} wrote without an approval");
            if stage.has_ended {
                break;
            }
            stage.later(Duration::from_millis(400));
        }
    }

    #[test]
    fn read_only_never_writes_or_dry_runs(keys in proptest::collection::vec(any_key(), 1..40)) {
        let mut stage = TestConsole::full_with(|start| start.read_only = Some(crate::console::task::ReadOnly::Flag));
        stage.keys("1 j");
        for key in keys {
            add_data(&mut stage);
            stage.event(What::Key(key));
            stage.later(Duration::from_millis(400));
        }
        let writes = stage.tasks.iter().any(|task| matches!(task, Task::Apply(_) | Task::DryRun { .. }));
        prop_assert!(!writes);
    }

    #[test]
    fn any_keys_leave_a_drawable_screen(
        keys in proptest::collection::vec(any_key(), 1..60),
        sizes in proptest::collection::vec((1..160_u16, 1..50_u16), 1..4),
    ) {
        let mut stage = TestConsole::full();
        for (place, key) in keys.into_iter().enumerate() {
            add_data(&mut stage);
            stage.event(What::Key(key));
            stage.later(Duration::from_millis(400));
            let (width, height) = sizes[place % sizes.len()];
            stage.draw(width, height);
        }
    }

    #[test]
    fn frames_that_write_only_changes_show_what_full_frames_show(
        keys in proptest::collection::vec(prop_oneof![1 => any_key(), 2 => cursor_key()], 1..80),
        size in proptest::sample::select(vec![(80, 24), (120, 40), (160, 45)]),
        theme in proptest::sample::select(Themes::built_in().names().map(str::to_owned).collect::<Vec<_>>()),
        dialect in proptest::sample::select(vec![Dialect::Basic, Dialect::Vt, Dialect::Xterm]),
        depth in proptest::sample::select(vec![ColorDepth::None, ColorDepth::Ansi16, ColorDepth::True]),
    ) {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut stage = TestConsole::full();
        stage.event(What::Resize { width: area.width, height: area.height });
        let appearance = Appearance { theme: Themes::built_in().resolve(&theme).unwrap(), signs: GlyphSet::Unicode };
        let mut writer = Writer::new(depth, dialect);
        let mut terminal = StrictTerminal::new(dialect, Ambiguous::Narrow, area.width, area.height);
        let mut shown = Buffer::empty(Rect::ZERO);
        for key in keys {
            add_data(&mut stage);
            stage.event(What::Key(key)).later(Duration::from_millis(100));
            let mut next = Buffer::empty(area);
            let cursor = view(&stage.model, &appearance, area, &mut next).cursor;
            terminal.process(writer.frame(&mut shown, &next, cursor));
            shown = next;
        }
        let mut full = StrictTerminal::new(Dialect::Basic, Ambiguous::Narrow, area.width, area.height);
        full.process(Writer::new(depth, Dialect::Basic).repaint(&shown, Cursor::Hidden));
        prop_assert_eq!(terminal.cells(), full.cells());
    }

    #[test]
    fn a_tree_is_sorted_in_any_order_of_arrival(order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle()) {
        let all: Vec<_> = fixtures::findings().into_iter().filter(|(id, _)| id.domain == fixtures::PARTS).collect();
        let mut stage = TestConsole::started();
        for place in order {
            stage.data(Update::of([all[place].clone()]));
        }
        stage.keys("2 =");
        let shown: Vec<&str> = stage.model.checks[1].order.window(0..9).map(|id| id.name.as_str()).collect();
        prop_assert_eq!(shown, ["demo", "demo-transitgateway", "demo-vpc", "vpc-bridge", "alice-subnet", "lonely"]);
    }
}

/// From every screen and every layer: one key, and nothing is written.
#[test]
fn no_key_of_the_keymap_writes_to_a_cluster_from_any_screen() {
    let screens = ["", "1", "1 enter", "2", "ga", "gl", "1 v", "?", ":", "c", "T", "1 /x", "1 A", "2 i", "g"];
    let mut keys: BTreeSet<String> = BTreeSet::new();
    for row in TestConsole::full().model.keys.table() {
        keys.extend(row.keys.iter().filter(|key| !key.contains(' ')).cloned());
    }
    for screen in screens.into_iter().chain(["gp"]) {
        for key in &keys {
            let mut stage = TestConsole::full();
            stage
                .planned(fixtures::plan(fixtures::actions()))
                .reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) });
            stage.keys("0").keys(screen).forget();
            stage.keys(key);
            let applies = stage.tasks.iter().any(|task| matches!(task, Task::Apply(_)));
            assert!(!applies, "{key} after {screen:?}");
        }
    }
}
