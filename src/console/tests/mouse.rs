//! The mouse: what was clicked is what was drawn there.

use crossterm::event::{MouseButton, MouseEventKind};

use super::fixtures;
use crate::console::hits::{Hit, Tab};
use crate::console::keymap::Action;
use crate::console::model::{CheckColumn, Layer, Pane, ScreenId};
use crate::console::table::Direction;
use crate::console::testing::TestConsole;
use trueup_core::engine::{State, Tier};
use trueup_fleet::live::Update;

fn drawn(keys: &str) -> TestConsole {
    let mut stage = TestConsole::full();
    stage.keys(keys).draw(120, 40);
    stage
}

fn cursor(stage: &TestConsole) -> String {
    stage.model.subject().map(|subject| subject.name.clone()).unwrap_or_default()
}

#[test]
fn a_click_on_a_row_puts_the_cursor_there() {
    let mut stage = drawn("1");
    stage.click(Hit::Row(3));
    assert_eq!(cursor(&stage), "lost-copy");
    stage.click(Hit::Detail);
    assert_eq!(stage.model.pane, Pane::Detail);
    stage.click(Hit::Row(0));
    assert_eq!((cursor(&stage).as_str(), stage.model.pane), ("half-written", Pane::List));
}

#[test]
fn a_click_on_a_column_header_sorts_and_a_second_reverses() {
    let mut stage = drawn("1");
    stage.click(Hit::Column(2));
    let sorted = |stage: &TestConsole| (stage.model.checks[0].sort, stage.model.checks[0].order.direction());
    assert_eq!(sorted(&stage), (CheckColumn::Cluster, Direction::Ascending));
    stage.draw(120, 40);
    stage.click(Hit::Column(2));
    assert_eq!(sorted(&stage), (CheckColumn::Cluster, Direction::Descending));
}

#[test]
fn a_click_on_a_tab_goes_there() {
    let mut stage = drawn("");
    stage.planned(fixtures::plan(fixtures::actions())).keys("0").draw(120, 40);
    let tabs = [
        (Tab::Check(1), ScreenId::Check(1)),
        (Tab::Check(0), ScreenId::Check(0)),
        (Tab::Plan, ScreenId::Plan),
        (Tab::Activity, ScreenId::Activity),
        (Tab::Fleet, ScreenId::Fleet),
    ];
    for (tab, place) in tabs {
        stage.click(Hit::Tab(tab));
        assert_eq!(stage.model.screen(), place, "{tab:?}");
        stage.draw(120, 40);
    }
    stage.click(Hit::Hint(Action::Help));
    assert!(matches!(stage.model.layer, Some(Layer::Help { .. })));
}

#[test]
fn the_wheel_scrolls_the_pane_under_the_pointer() {
    let mut stage = drawn("1");
    let many = (0..100).map(|number| {
        let id = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", &format!("many-{number:03}"));
        (id, Some(fixtures::held(State::Drift, "differs", 0)))
    });
    stage.data(Update::of(many)).explained().draw(120, 40);
    let list = stage.place_of(Hit::Row(5));
    stage.mouse(MouseEventKind::ScrollDown, list).draw(120, 40);
    assert_eq!(stage.model.checks[0].list.window().start, 3);
    let detail = stage.place_of(Hit::Detail);
    stage.explained().mouse(MouseEventKind::ScrollDown, detail);
    assert_eq!(stage.model.checks[0].list.window().start, 3);
    assert!(stage.model.detail.scroll > 0);
    assert_eq!(stage.model.pane, Pane::List);
}

#[test]
fn the_divider_follows_a_drag() {
    let mut stage = drawn("1");
    stage.draw(160, 45);
    let place = stage.place_of(Hit::Divider);
    let held = MouseEventKind::Drag(MouseButton::Left);
    stage.mouse(held, (30, 5));
    assert_eq!(stage.model.split, 55, "no drag started");
    stage.mouse(MouseEventKind::Down(MouseButton::Left), place).mouse(held, (64, 5));
    assert_eq!(stage.model.split, 40);
    stage.mouse(held, (1, 5));
    assert_eq!(stage.model.split, 25, "neither side vanishes");
    stage.mouse(MouseEventKind::Up(MouseButton::Left), (1, 5)).mouse(held, (90, 5));
    assert_eq!(stage.model.split, 25);
}

#[test]
fn a_click_chooses_an_item_and_a_click_outside_closes_the_picker() {
    let mut stage = drawn("T");
    stage.click(Hit::Item(2));
    assert_eq!(stage.model.theme, "mono");
    assert!(stage.model.layer.is_none());
    stage.keys("T").draw(120, 40);
    stage.click(Hit::Layer);
    assert!(stage.model.layer.is_some());
    stage.mouse(MouseEventKind::Down(MouseButton::Left), (0, 0));
    assert!(stage.model.layer.is_none());
}

#[test]
fn no_click_confirms_or_closes_an_approval() {
    let mut stage = TestConsole::full();
    stage.planned(fixtures::plan(fixtures::deletes("guest-payments", 2, Tier::T3))).keys("a").draw(120, 40);
    stage.forget();
    for row in 0..40 {
        for column in (0..120).step_by(7) {
            stage.mouse(MouseEventKind::Down(MouseButton::Left), (column, row));
        }
    }
    assert!(matches!(stage.model.layer, Some(Layer::Approval(_))));
    assert_eq!(stage.take_tasks(), [""; 0]);
}
