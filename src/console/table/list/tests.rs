//! The reader's place, through everything that can happen to a list.

use super::*;
use crate::console::table::{Direction, Membership};
use proptest::prelude::*;

fn list_of(ids: &[u8], height: usize) -> ListState<u8> {
    let mut list = ListState::default();
    list.apply(ids, height);
    list
}

#[test]
fn the_cursor_stays_on_the_first_row_until_it_is_used() {
    let mut list = list_of(&[5], 3);
    assert_eq!(list.cursor(), Some(&5));
    list.apply(&[1, 5][..], 3);
    assert_eq!(list.cursor(), Some(&1), "untouched");
    list.hold(&[1, 5][..]);
    list.apply(&[0, 1, 5][..], 3);
    assert_eq!(list.cursor(), Some(&1), "held");
}

#[test]
fn rows_added_above_keep_the_cursor_on_its_line() {
    let mut list = list_of(&[10, 20, 30, 40, 50], 3);
    list.step(&[10, 20, 30, 40, 50][..], 1);
    assert_eq!(list.window(), 0..3);
    list.apply(&[1, 2, 10, 20, 30, 40, 50][..], 3);
    assert_eq!((list.cursor(), list.window()), (Some(&20), 2..5));
}

#[test]
fn movement_keeps_the_cursor_in_the_window() {
    let rows: Vec<u8> = (0..10).collect();
    let mut list = list_of(&rows, 4);
    type Move = fn(&mut ListState<u8>, &[u8]);
    let moves: [(&str, Move, u8, Range<usize>); 8] = [
        ("down", |list, rows| list.step(rows, 1), 1, 0..4),
        ("down past the window", |list, rows| list.step(rows, 4), 5, 2..6),
        ("page up", |list, rows| list.page(rows, -1), 2, 0..4),
        ("page down", |list, rows| list.page(rows, 1), 5, 3..7),
        ("bottom", |list, rows| list.bottom(rows), 9, 6..10),
        ("down at the end", |list, rows| list.step(rows, 1), 9, 6..10),
        ("wheel", |list, rows| list.scroll(rows, -2), 7, 4..8),
        ("top", |list, rows| list.top(rows), 0, 0..4),
    ];
    for (case, act, cursor, window) in moves {
        act(&mut list, &rows);
        assert_eq!((list.cursor(), list.window()), (Some(&cursor), window), "case: {case}");
    }
    assert!(list.go_to(&rows[..], &8) && !list.go_to(&rows[..], &77));
    assert_eq!(list.cursor(), Some(&8));
}

#[test]
fn a_window_without_lines_is_valid() {
    let rows = [1, 2, 3];
    let mut list = list_of(&rows, 0);
    list.step(&rows[..], 2);
    list.page(&rows[..], 1);
    list.scroll(&rows[..], 1);
    list.apply(&rows[..], 2);
    assert_eq!((list.cursor(), list.window()), (Some(&3), 1..3));
}

#[test]
fn marks_are_removed_with_their_rows_and_hidden_ones_are_counted() {
    let mut order = Order::default();
    order.rebuild((0..6).map(|id| (id, id, Membership::Shown)));
    let mut list: ListState<u8, u8> = ListState::default();
    list.apply(&order, 10);
    list.toggle_mark(&order);
    list.step(&order, 2);
    list.mark_range(&order);
    assert_eq!(list.marks().iter().copied().collect::<Vec<_>>(), [0, 1, 2]);
    order.set_direction(Direction::Descending);
    order.refilter(|id| if *id == 1 { Membership::Hidden } else { Membership::Shown });
    assert_eq!(list.apply(&order, 10), Applied { cursor: CursorFate::Stayed, marks_gone: 0 });
    assert_eq!((list.marks().len(), list.marks_hidden(&order)), (3, 1));
    order.remove(&1);
    order.remove(&2);
    assert_eq!(list.apply(&order, 10), Applied { cursor: CursorFate::Moved, marks_gone: 2 });
    assert_eq!(list.cursor(), Some(&0), "the next one in this direction");
    list.toggle_mark(&order);
    assert!(list.marks().is_empty());
    list.mark_all(&order);
    assert_eq!(list.marks().len(), 4);
    list.unmark_all();
    assert!(list.marks().is_empty());
}

#[test]
fn clearing_a_filter_restores_the_cursor() {
    let mut order = Order::default();
    order.rebuild((0..6).map(|id| (id, id, Membership::Shown)));
    let mut list: ListState<u8, u8> = ListState::default();
    list.apply(&order, 4);
    list.step(&order, 3);
    order.refilter(|_| Membership::Hidden);
    assert_eq!((list.apply(&order, 4).cursor, list.cursor()), (CursorFate::Nowhere, None));
    order.refilter(|_| Membership::Shown);
    assert_eq!((list.apply(&order, 4).cursor, list.cursor()), (CursorFate::Stayed, Some(&3)));
}

#[derive(Debug, Clone)]
enum Step {
    Upsert(u8, u8, bool),
    Remove(Vec<u8>),
    Hide(u8),
    Reverse,
    Move(isize),
    Page(isize),
    Scroll(isize),
    Mark,
    Height(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u8..24, 0u8..6, any::<bool>()).prop_map(|(id, key, shown)| Step::Upsert(id, key, shown)),
        2 => prop::collection::vec(0u8..24, 0..8).prop_map(Step::Remove),
        1 => (0u8..8).prop_map(Step::Hide),
        1 => Just(Step::Reverse),
        3 => (-5isize..6).prop_map(Step::Move),
        1 => (-2isize..3).prop_map(Step::Page),
        1 => (-4isize..5).prop_map(Step::Scroll),
        1 => Just(Step::Mark),
        1 => (0usize..8).prop_map(Step::Height),
    ]
}

fn member(shown: bool) -> Membership {
    if shown { Membership::Shown } else { Membership::Hidden }
}

fn take(step: &Step, order: &mut Order<u8, u8>, list: &mut ListState<u8, u8>, height: &mut usize) {
    match step {
        Step::Upsert(id, key, shown) => _ = order.upsert(id, *key, member(*shown)),
        Step::Remove(ids) => ids.iter().for_each(|id| _ = order.remove(id)),
        Step::Hide(limit) => order.refilter(|id| member(id % 8 >= *limit)),
        Step::Reverse => order.set_direction(order.direction().reversed()),
        Step::Move(by) => list.step(order, *by),
        Step::Page(by) => list.page(order, *by),
        Step::Scroll(by) => list.scroll(order, *by),
        Step::Mark => list.toggle_mark(order),
        Step::Height(lines) => *height = *lines,
    }
}

fn shown(order: &Order<u8, u8>) -> Vec<u8> {
    order.window(0..usize::MAX).copied().collect()
}

/// Every row in its order, hidden ones included: the filter may let others through in the same moment.
fn all(order: &Order<u8, u8>) -> Vec<u8> {
    let mut order = order.clone();
    order.refilter(|_| Membership::Shown);
    shown(&order)
}

/// Where the cursor has to be, found by walking the rows as they were.
fn successor(before: &[u8], cursor: u8, after: &[u8]) -> Option<u8> {
    let here = before.iter().position(|id| *id == cursor)?;
    let below = before[here..].iter().find(|id| after.contains(id));
    below.or_else(|| before[..here].iter().rev().find(|id| after.contains(id))).copied()
}

proptest! {
    #[test]
    fn the_cursor_is_always_on_its_row_or_its_successor_and_visible(steps in prop::collection::vec(step(), 0..60)) {
        let (mut order, mut list, mut height) = (Order::default(), ListState::default(), 4);
        list.apply(&order, height);
        for step in &steps {
            let (before, held) = (all(&order), list.cursor().copied());
            let marks = list.marks().clone();
            take(step, &mut order, &mut list, &mut height);
            let moved = matches!(step, Step::Move(_) | Step::Page(_) | Step::Scroll(_));
            let touched = matches!(list.cursor, Cursor::On { .. });
            let applied = list.apply(&order, height);
            let after = shown(&order);
            if let (Some(held), false, true) = (held, moved, touched) {
                // A row that another one overtook in the same moment is no measure.
                if after.contains(&held) || matches!(step, Step::Remove(_) | Step::Hide(_)) {
                    prop_assert_eq!(list.cursor().copied(), successor(&before, held, &after));
                }
            }
            let window = list.window();
            match list.cursor() {
                None => prop_assert!(after.is_empty()),
                Some(id) => {
                    let index = order.position(id).expect("the cursor is on a shown row");
                    prop_assert!(height == 0 || window.contains(&index), "{} not in {:?}", index, window);
                }
            }
            prop_assert!(window.start == 0 || window.end <= after.len().max(height), "{:?} of {}", window, after.len());
            prop_assert!(list.marks().iter().all(|id| order.contains(id)));
            if !matches!(step, Step::Mark) {
                prop_assert_eq!(marks.len() - list.marks().len(), applied.marks_gone);
            }
        }
    }
}
