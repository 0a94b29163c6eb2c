//! The tour of the demo.

use super::fixtures;
use super::screens::States;
use crate::console::keymap::Keymap;
use crate::console::model::GUARD;
use crate::console::task::{Planned, TaskReply};
use crate::console::testing::TestConsole;

fn demo() -> TestConsole {
    let mut console = TestConsole::full_with(|start| start.offers_tour = true);
    console.reply(TaskReply::Settings(Box::default()));
    console
}

/// The last line of the screen.
fn last_line(console: &mut TestConsole) -> String {
    console.draw(120, 40).lines().last().unwrap_or_default().trim().to_owned()
}

pub fn states() -> States {
    let after = |keys: &str| {
        let mut console = demo();
        console.model.toasts.clear();
        console.keys(keys);
        console
    };
    vec![("the first step", after("g ?")), ("the third step", after("g ? enter 1"))]
}

#[test]
fn the_demo_offers_the_tour_once_and_others_do_not() {
    assert_eq!(demo().toasts(), ["New here? g ? starts a tour."]);
    assert!(TestConsole::full().toasts().is_empty());
    let mut other = TestConsole::full();
    other.keys("g ?");
    assert!(other.model.tour.is_none(), "a fleet of the user's own has no tour");
    assert_eq!(other.toasts(), ["The tour is part of trueup demo."]);
}

#[test]
fn each_of_the_six_steps_ends_when_its_key_is_pressed() {
    let mut console = demo();
    console.keys("g ?");
    let mut seen = vec![last_line(&mut console)];
    for keys in ["enter", "1 backspace", "o", "1 r"] {
        console.keys(keys);
        seen.push(last_line(&mut console));
        if keys == "1 backspace" {
            console.explained();
        }
    }
    let ask = console.model.planning.expect("a plan was asked for");
    let plan = Planned { plan: fixtures::plan(fixtures::actions()), left_out: Vec::new(), objects: Default::default() };
    console.reply(TaskReply::Planned { ask, plan: Ok(Box::new(plan)) });
    console.keys("a").later(GUARD);
    console.keys("esc");
    console.model.toasts.clear();
    seen.push(last_line(&mut console));
    for (number, line) in seen.iter().enumerate() {
        assert!(line.starts_with(&format!("Tour {} of 6 · press ", number + 1)), "{number}: {line}");
        assert!(line.ends_with("esc: end"), "{line}");
    }
    console.keys("g a u");
    assert!(console.model.tour.is_none(), "after the last step the tour is over");
}

#[test]
fn the_tour_names_the_keys_of_the_keymap_and_back_ends_it() {
    let mut console = demo();
    console.model.keys = Keymap::with_user_file("[global]\nopen = ['f3']\nback = ['f4']\ngo-tour = ['f5']\n").0;
    console.keys("f5");
    let line = last_line(&mut console);
    assert!(line.starts_with("Tour 1 of 6 · press f3 to open") && line.ends_with("f4: end"), "{line}");
    console.keys("f4");
    assert!(console.model.tour.is_none());
}
