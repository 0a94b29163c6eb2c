//! Every key of the hint line does something, on every screen and in every layer.

use std::time::Duration;

use super::{fixtures, screens};
use crate::console::keymap::Action;
use crate::console::model::Layer;
use crate::console::task::TaskReply;
use crate::console::testing::TestConsole;

/// Starts of messages that say that a key did nothing.
const REFUSALS: [&str; 5] = ["there is n", "this ", "no ", "nothing to ", "nothing of "];

/// Presses a key of the hint line. Returns a line when nothing happens, or when the key is refused.
fn press(stage: &mut TestConsole, action: Action, place: &str) -> Option<String> {
    // A wrong word stays wrong.
    if matches!(&stage.model.layer, Some(Layer::Approval(approval)) if approval.wrong.is_some()) {
        return None;
    }
    let key = stage.model.keys.keys(stage.model.scope(), action).into_iter().next();
    let key = key.unwrap_or_else(|| panic!("{place}: {action:?} has no key"));
    // Keys of the first moments of an approval are dropped.
    stage.later(Duration::from_millis(300));
    let before = stage.draw(200, 60);
    stage.model.toasts.clear();
    stage.forget().keys(&key);
    let refused = stage.toasts().iter().any(|message| REFUSALS.iter().any(|refusal| message.starts_with(refusal)));
    let is_asked = !stage.tasks.is_empty() || !stage.wishes.is_empty();
    let is_seen = stage.draw(200, 60) != before || is_asked || stage.has_ended;
    (!is_seen || refused).then(|| format!("{place}: {key} ({action:?}): {:?}", stage.toasts()))
}

#[test]
fn every_hinted_key_of_every_screen_and_layer_has_an_effect() {
    let (mut pressed, mut idle) = (0, Vec::new());
    for place in 0.. {
        let before = pressed;
        for (screen, states) in screens::all() {
            for (state, mut stage) in states {
                stage.draw(200, 60);
                let hints = match &stage.model.layer {
                    // A prompt names its keys itself. What is typed wrong stays until it is corrected.
                    Some(Layer::Prompt(prompt)) if prompt.problem.is_some() => vec![Action::Back],
                    Some(Layer::Prompt(_)) => vec![Action::Back, Action::Open],
                    Some(_) | None => stage.hints(),
                };
                let Some(action) = hints.get(place) else { continue };
                idle.extend(press(&mut stage, *action, &format!("{screen}, {state}")));
                pressed += 1;
            }
        }
        if pressed == before {
            break;
        }
    }
    assert!(idle.is_empty(), "{}", idle.join("\n"));
    assert!(pressed > 300, "{pressed}");
}

/// A screen, with everything that its keys may need.
fn console_after(keys: &str) -> TestConsole {
    let mut stage = TestConsole::full();
    stage.planned(fixtures::plan(fixtures::actions())).forget();
    stage.reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) }).keys("0").keys(keys);
    if stage.model.detail.subject.is_some() {
        stage.explained();
    }
    if let Some(ask) = stage.model.object.as_ref().map(|view| view.ask) {
        stage.reply(TaskReply::Object { ask, object: Ok(Box::new(fixtures::sheet())) });
    }
    stage.draw(200, 60);
    stage
}

#[test]
fn every_hinted_key_has_an_effect_where_everything_is_known() {
    let screens =
        ["", "/qqqqq enter", "1", "1 G k", "1 /qqqqq enter", "1 j enter", "2", "2 enter", "gp", "ga", "1 j v", "gl"];
    for screen in screens {
        for action in console_after(screen).hints() {
            assert_eq!(press(&mut console_after(screen), action, screen), None);
        }
    }
}
