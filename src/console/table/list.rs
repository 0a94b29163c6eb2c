//! Where the reader is in a list, by identity.
//!
//! Always true:
//! - the cursor is on a shown row whenever there is one, and inside the window;
//! - rows that come or go elsewhere neither move the cursor to another row nor, if it can be helped, on the screen;
//! - a cursor whose row is gone is on the nearest one that stood after it, else on the one before;
//! - a mark goes only with its row, or when it is taken away.
//!
//! Not here: the rows and their order (`order`).

use std::collections::BTreeSet;
use std::ops::Range;

use super::Order;

/// Rows in an order, as far as a list has to know them.
pub trait Rows<Id, Place> {
    /// How many are shown.
    fn count(&self) -> usize;
    fn at(&self, index: usize) -> Option<&Id>;
    /// Where a row is, when it is shown.
    fn index_of(&self, id: &Id) -> Option<usize>;
    /// Whether a row is there, shown or hidden.
    fn has(&self, id: &Id) -> bool;
    /// How often rows were taken out, where that is counted: while it is the same, whoever was there still is.
    fn departures(&self) -> Option<u64>;
    /// What is enough to find the row's neighbours once it is gone.
    fn place_of(&self, id: &Id) -> Option<Place>;
    /// The first row that stands where the gone one would, or after it.
    fn index_after(&self, place: &Place, id: &Id) -> usize;
}

impl<K: Ord + Clone, Id: Ord + Clone, Carried> Rows<Id, K> for Order<K, Id, Carried> {
    fn count(&self) -> usize {
        self.shown()
    }

    fn at(&self, index: usize) -> Option<&Id> {
        self.get(index)
    }

    fn index_of(&self, id: &Id) -> Option<usize> {
        self.position(id)
    }

    fn has(&self, id: &Id) -> bool {
        self.contains(id)
    }

    fn departures(&self) -> Option<u64> {
        Some(self.departures())
    }

    fn place_of(&self, id: &Id) -> Option<K> {
        self.key(id).cloned()
    }

    fn index_after(&self, place: &K, id: &Id) -> usize {
        self.lower_bound(place, id)
    }
}

/// Short lists that have no order but their own. A row that is gone leaves its index.
impl<Id: Ord> Rows<Id, usize> for [Id] {
    fn count(&self) -> usize {
        self.len()
    }

    fn at(&self, index: usize) -> Option<&Id> {
        self.get(index)
    }

    fn index_of(&self, id: &Id) -> Option<usize> {
        self.iter().position(|one| one == id)
    }

    fn has(&self, id: &Id) -> bool {
        self.contains(id)
    }

    fn departures(&self) -> Option<u64> {
        None
    }

    fn place_of(&self, id: &Id) -> Option<usize> {
        self.index_of(id)
    }

    fn index_after(&self, place: &usize, _: &Id) -> usize {
        *place
    }
}

/// Cursor, marks and window of a list. Every function that takes rows takes the list's own, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListState<Id, Place = usize> {
    cursor: Cursor<Id, Place>,
    marks: BTreeSet<Id>,
    /// Where a range of marks begins.
    marked_last: Option<Id>,
    /// The rows' departures when marks were last looked over.
    departures: Option<u64>,
    /// The first row of the window.
    offset: usize,
    height: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor<Id, Place> {
    /// Nobody has touched the list: whichever row is first.
    First(Option<Id>),
    On {
        id: Id,
        place: Place,
        /// Its line in the window, kept while rows above come and go.
        line: usize,
    },
    /// No row is shown. Should the filter let this one through again, the cursor is back on it.
    Nowhere { id: Id, place: Place, line: usize },
}

/// What new rows did to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    pub cursor: CursorFate,
    /// Marks that went with their rows.
    pub marks_gone: usize,
}

/// What became of the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorFate {
    /// On the row it was on.
    Stayed,
    /// Its row is no longer shown: on a neighbour.
    Moved,
    /// No row is shown.
    Nowhere,
}

impl<Id, Place> Default for ListState<Id, Place> {
    fn default() -> Self {
        Self {
            cursor: Cursor::First(None),
            marks: BTreeSet::new(),
            marked_last: None,
            departures: None,
            offset: 0,
            height: 0,
        }
    }
}

impl<Id: Ord + Clone, Place: Clone> ListState<Id, Place> {
    /// Takes in how the rows are now, and how many lines the window has.
    pub fn apply(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), height: usize) -> Applied {
        self.height = height;
        let marks_gone = self.drop_marks_of_departed(rows);
        Applied { cursor: self.follow(rows), marks_gone }
    }

    /// Says how many marks went. Costs a look at each of them only when a row has gone since the last time.
    fn drop_marks_of_departed(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) -> usize {
        let departures = rows.departures();
        if departures.is_some() && departures == self.departures {
            return 0;
        }
        self.departures = departures;
        let marks_before = self.marks.len();
        self.marks.retain(|id| rows.has(id));
        self.marked_last.take_if(|id| !rows.has(id));
        marks_before - self.marks.len()
    }

    /// The row the cursor is on.
    pub fn cursor(&self) -> Option<&Id> {
        match &self.cursor {
            Cursor::First(first) => first.as_ref(),
            Cursor::On { id, .. } => Some(id),
            Cursor::Nowhere { .. } => None,
        }
    }

    /// Where the cursor's row is, for "3 of 14".
    pub fn cursor_index(&self, rows: &(impl Rows<Id, Place> + ?Sized)) -> Option<usize> {
        self.cursor().and_then(|id| rows.index_of(id))
    }

    /// The rows to draw, by index. May reach past the last row.
    pub fn window(&self) -> Range<usize> {
        self.offset..self.offset + self.height
    }

    /// From now on the cursor stays with its row. Before, it is on whichever row is first, so that a list that is still
    /// loading is read from its top. Any key that looks at the cursor's row should come through here first.
    pub fn hold(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        if let Cursor::First(Some(first)) = &self.cursor
            && let Some(place) = rows.place_of(first)
        {
            self.cursor = Cursor::On { id: first.clone(), place, line: 0 };
        }
    }

    /// Moves the cursor by rows, not past either end.
    pub fn step(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), by: isize) {
        let here = self.cursor_index(rows).unwrap_or(0);
        self.go_to_index(rows, here.saturating_add_signed(by));
    }

    /// Moves the cursor and the window by pages, which share a line, so that no row is skipped unseen.
    pub fn page(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), pages: isize) {
        let lines = pages.saturating_mul(self.height.saturating_sub(1).max(1) as isize);
        self.offset = self.offset.saturating_add_signed(lines).min(self.offset_max(rows.count()));
        self.step(rows, lines);
    }

    pub fn top(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        self.go_to_index(rows, 0);
    }

    pub fn bottom(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        self.go_to_index(rows, usize::MAX);
    }

    /// Puts the cursor on a row; says whether it is shown.
    pub fn go_to(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), id: &Id) -> bool {
        let index = rows.index_of(id);
        index.inspect(|index| self.go_to_index(rows, *index)).is_some()
    }

    /// Puts the cursor on the row at an index, or on the last one.
    pub fn go_to_index(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), index: usize) {
        let Some(last) = rows.count().checked_sub(1) else { return };
        let index = index.min(last);
        let least = (index + 1).saturating_sub(self.height.max(1));
        self.offset = self.offset.clamp(least, index).min(self.offset_max(rows.count()));
        self.put(rows, index);
    }

    /// Moves the window, as a wheel does. The cursor stays on its row, or at the edge its row leaves by.
    pub fn scroll(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), by: isize) {
        let Some(here) = self.cursor_index(rows) else { return };
        self.offset = self.offset.saturating_add_signed(by).min(self.offset_max(rows.count()));
        let last = (self.offset + self.height).saturating_sub(1).max(self.offset);
        self.put(rows, here.clamp(self.offset, last));
    }

    /// Marks the cursor's row, or takes its mark away.
    pub fn toggle_mark(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        self.hold(rows);
        let Some(id) = self.cursor().cloned() else { return };
        if !self.marks.remove(&id) {
            self.marks.insert(id.clone());
        }
        self.marked_last = Some(id);
    }

    /// Marks every row that is shown.
    pub fn mark_all(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        self.mark_between(rows, 0, rows.count());
    }

    /// Marks from the row marked last to the cursor, both included; the cursor's row alone when there is none.
    pub fn mark_range(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        self.hold(rows);
        let Some(here) = self.cursor_index(rows) else { return };
        let from = self.marked_last.as_ref().and_then(|id| rows.index_of(id)).unwrap_or(here);
        self.mark_between(rows, from.min(here), from.max(here) + 1);
        self.marked_last = self.cursor().cloned();
    }

    pub fn unmark_all(&mut self) {
        self.marks.clear();
        self.marked_last = None;
    }

    pub fn is_marked(&self, id: &Id) -> bool {
        self.marks.contains(id)
    }

    /// Every marked row, those the filter hides included.
    pub fn marks(&self) -> &BTreeSet<Id> {
        &self.marks
    }

    /// How many marked rows the filter hides: to be said wherever marks are acted upon.
    pub fn marks_hidden(&self, rows: &(impl Rows<Id, Place> + ?Sized)) -> usize {
        self.marks.iter().filter(|id| rows.index_of(id).is_none()).count()
    }

    fn mark_between(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), from: usize, to: usize) {
        self.marks.extend((from..to).filter_map(|index| rows.at(index).cloned()));
    }

    /// Finds the cursor's row again, or its heir, and moves the window so that it stays on its line.
    fn follow(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) -> CursorFate {
        let (index, line, fate) = match &self.cursor {
            Cursor::First(before) => {
                let first = rows.at(0).cloned();
                let fate = match &first {
                    None => CursorFate::Nowhere,
                    Some(_) if first == *before => CursorFate::Stayed,
                    Some(_) => CursorFate::Moved,
                };
                self.cursor = Cursor::First(first);
                self.offset = 0;
                return fate;
            }
            Cursor::On { id, place, line } | Cursor::Nowhere { id, place, line } => match rows.index_of(id) {
                Some(index) => (index, *line, CursorFate::Stayed),
                None => (rows.index_after(place, id), *line, CursorFate::Moved),
            },
        };
        let Some(last) = rows.count().checked_sub(1) else {
            if let Cursor::On { id, place, line } = &self.cursor {
                self.cursor = Cursor::Nowhere { id: id.clone(), place: place.clone(), line: *line };
            }
            self.offset = 0;
            return CursorFate::Nowhere;
        };
        let index = index.min(last);
        let line = line.min(self.height.saturating_sub(1));
        self.offset = index.saturating_sub(line).min(self.offset_max(rows.count()));
        self.put(rows, index);
        fate
    }

    /// Puts the cursor on the row at an index that is in the window.
    fn put(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), index: usize) {
        if let Some(id) = rows.at(index)
            && let Some(place) = rows.place_of(id)
        {
            self.cursor = Cursor::On { id: id.clone(), place, line: index.saturating_sub(self.offset) };
        }
    }

    /// The furthest the window goes: its last line on the last row.
    fn offset_max(&self, rows: usize) -> usize {
        rows.saturating_sub(self.height.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::table::{Direction, Membership};
    use proptest::prelude::*;

    fn list_of(ids: &[u8], height: usize) -> ListState<u8> {
        let mut list = ListState::default();
        list.apply(ids, height);
        list
    }

    #[test]
    fn a_list_that_loads_is_read_from_its_top_until_somebody_takes_hold() {
        let mut list = list_of(&[5], 3);
        assert_eq!(list.cursor(), Some(&5));
        list.apply(&[1, 5][..], 3);
        assert_eq!(list.cursor(), Some(&1), "untouched");
        list.hold(&[1, 5][..]);
        list.apply(&[0, 1, 5][..], 3);
        assert_eq!(list.cursor(), Some(&1), "held");
    }

    #[test]
    fn rows_that_come_in_above_leave_the_cursor_on_its_line() {
        let mut list = list_of(&[10, 20, 30, 40, 50], 3);
        list.step(&[10, 20, 30, 40, 50][..], 1);
        assert_eq!(list.window(), 0..3);
        list.apply(&[1, 2, 10, 20, 30, 40, 50][..], 3);
        assert_eq!((list.cursor(), list.window()), (Some(&20), 2..5));
    }

    #[test]
    fn moving_keeps_the_cursor_in_the_window_and_the_window_on_the_rows() {
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
    fn a_window_without_lines_breaks_nothing() {
        let rows = [1, 2, 3];
        let mut list = list_of(&rows, 0);
        list.step(&rows[..], 2);
        list.page(&rows[..], 1);
        list.scroll(&rows[..], 1);
        list.apply(&rows[..], 2);
        assert_eq!((list.cursor(), list.window()), (Some(&3), 1..3));
    }

    #[test]
    fn marks_go_with_their_rows_and_hidden_ones_are_counted() {
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
    fn a_filter_that_hides_all_gives_the_cursor_back_when_it_goes() {
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
    fn heir(before: &[u8], cursor: u8, after: &[u8]) -> Option<u8> {
        let here = before.iter().position(|id| *id == cursor)?;
        let below = before[here..].iter().find(|id| after.contains(id));
        below.or_else(|| before[..here].iter().rev().find(|id| after.contains(id))).copied()
    }

    proptest! {
        #[test]
        fn whatever_happens_the_cursor_is_on_its_row_or_its_heir_and_in_sight(steps in prop::collection::vec(step(), 0..60)) {
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
                        prop_assert_eq!(list.cursor().copied(), heir(&before, held, &after));
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
}
