//! Cursor, marks and window of a list, by identity.
//!
//! Invariants:
//! - the cursor is on a shown row whenever there is one, and inside the window;
//! - rows added or removed elsewhere do not move the cursor to another row nor, if possible, on the screen;
//! - a cursor whose row is removed moves to the next row, else to the previous one;
//! - a mark is removed only with its row, or by the user.
//!
//! Elsewhere: the rows and their order (`order`).

use std::collections::BTreeSet;
use std::ops::Range;

use super::Order;

/// Ordered rows, as far as a list needs them.
pub trait Rows<Id, Place> {
    /// Number of shown rows.
    fn count(&self) -> usize;
    fn at(&self, index: usize) -> Option<&Id>;
    /// Index of a row, if it is shown.
    fn index_of(&self, id: &Id) -> Option<usize>;
    /// Whether a row exists, shown or hidden.
    fn has(&self, id: &Id) -> bool;
    /// Number of removals, where counted: while it is equal, all earlier rows still exist.
    fn departures(&self) -> Option<u64>;
    /// The position of a row, to find its neighbours after its removal.
    fn place_of(&self, id: &Id) -> Option<Place>;
    /// Index of the first row at or after a removed row's position.
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

/// Short lists in their own order. A removed row leaves its index.
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

/// Cursor, marks and window of a list. Functions that take rows take the list's current rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListState<Id, Place = usize> {
    cursor: Cursor<Id, Place>,
    marks: BTreeSet<Id>,
    /// Start of a marked range.
    marked_last: Option<Id>,
    /// Number of removals when marks were last checked.
    departures: Option<u64>,
    /// First row of the window.
    offset: usize,
    height: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor<Id, Place> {
    /// Untouched: on the first row, whichever it is.
    First(Option<Id>),
    On {
        id: Id,
        place: Place,
        /// Its line in the window, kept while rows above change.
        line: usize,
    },
    /// No row is shown. If the filter shows this row again, the cursor returns to it.
    Nowhere { id: Id, place: Place, line: usize },
}

/// Effect of new rows on a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    pub cursor: CursorFate,
    /// Marks removed with their rows.
    pub marks_gone: usize,
}

/// Effect on the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorFate {
    /// Still on its row.
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
    /// Applies the current rows and the window's height.
    pub fn apply(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), height: usize) -> Applied {
        self.height = height;
        let marks_gone = self.drop_marks_of_departed(rows);
        Applied { cursor: self.follow(rows), marks_gone }
    }

    /// Removes marks of removed rows and returns their number. Checks each mark only after a removal.
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

    /// The row at the cursor.
    pub fn cursor(&self) -> Option<&Id> {
        match &self.cursor {
            Cursor::First(first) => first.as_ref(),
            Cursor::On { id, .. } => Some(id),
            Cursor::Nowhere { .. } => None,
        }
    }

    /// Index of the cursor's row, for "3 of 14".
    pub fn cursor_index(&self, rows: &(impl Rows<Id, Place> + ?Sized)) -> Option<usize> {
        self.cursor().and_then(|id| rows.index_of(id))
    }

    /// Indices of the rows to draw. May exceed the last row.
    pub fn window(&self) -> Range<usize> {
        self.offset..self.offset + self.height
    }

    /// Binds the cursor to its row. Before, it is on the first row, so that a list that is still loading is read from its
    /// top. Every key that uses the cursor's row must call this first.
    pub fn hold(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        if let Cursor::First(Some(first)) = &self.cursor
            && let Some(place) = rows.place_of(first)
        {
            self.cursor = Cursor::On { id: first.clone(), place, line: 0 };
        }
    }

    /// Puts the cursor on the first row, whichever that becomes.
    pub fn return_to_first(&mut self) {
        self.cursor = Cursor::First(None);
        self.offset = 0;
    }

    /// Moves the cursor by rows, within the list.
    pub fn step(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), by: isize) {
        let here = self.cursor_index(rows).unwrap_or(0);
        self.go_to_index(rows, here.saturating_add_signed(by));
    }

    /// Moves the cursor and the window by pages, which overlap by a line, so that no row is skipped.
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

    /// Moves the cursor to a row; returns whether it is shown.
    pub fn go_to(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), id: &Id) -> bool {
        let index = rows.index_of(id);
        index.inspect(|index| self.go_to_index(rows, *index)).is_some()
    }

    /// Moves the cursor to an index, or to the last row.
    pub fn go_to_index(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), index: usize) {
        let Some(last) = rows.count().checked_sub(1) else { return };
        let index = index.min(last);
        let least = (index + 1).saturating_sub(self.height.max(1));
        self.offset = self.offset.clamp(least, index).min(self.offset_max(rows.count()));
        self.put(rows, index);
    }

    /// Scrolls the window. The cursor stays on its row, or at the edge of the window.
    pub fn scroll(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), by: isize) {
        let Some(here) = self.cursor_index(rows) else { return };
        self.offset = self.offset.saturating_add_signed(by).min(self.offset_max(rows.count()));
        let last = (self.offset + self.height).saturating_sub(1).max(self.offset);
        self.put(rows, here.clamp(self.offset, last));
    }

    /// Marks or unmarks the cursor's row.
    pub fn toggle_mark(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        self.hold(rows);
        let Some(id) = self.cursor().cloned() else { return };
        if !self.marks.remove(&id) {
            self.marks.insert(id.clone());
        }
        self.marked_last = Some(id);
    }

    /// Marks every shown row.
    pub fn mark_all(&mut self, rows: &(impl Rows<Id, Place> + ?Sized)) {
        self.mark_between(rows, 0, rows.count());
    }

    /// Marks from the last marked row to the cursor, both included; only the cursor's row when there is none.
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

    /// Every marked row, including those hidden by the filter.
    pub fn marks(&self) -> &BTreeSet<Id> {
        &self.marks
    }

    /// Number of marked rows hidden by the filter, which must be shown wherever marks are used.
    pub fn marks_hidden(&self, rows: &(impl Rows<Id, Place> + ?Sized)) -> usize {
        self.marks.iter().filter(|id| rows.index_of(id).is_none()).count()
    }

    fn mark_between(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), from: usize, to: usize) {
        self.marks.extend((from..to).filter_map(|index| rows.at(index).cloned()));
    }

    /// Moves the cursor to its row or the successor, and the window so that it stays on its line.
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

    /// Moves the cursor to an index inside the window.
    fn put(&mut self, rows: &(impl Rows<Id, Place> + ?Sized), index: usize) {
        if let Some(id) = rows.at(index)
            && let Some(place) = rows.place_of(id)
        {
            self.cursor = Cursor::On { id: id.clone(), place, line: index.saturating_sub(self.offset) };
        }
    }

    /// Largest offset of the window: its last line on the last row.
    fn offset_max(&self, rows: usize) -> usize {
        rows.saturating_sub(self.height.max(1))
    }
}

#[cfg(test)]
mod tests;
