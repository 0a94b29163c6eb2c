//! The rows of a list, kept sorted while they change.
//!
//! Invariants:
//! - rows are sorted by (key, id), or in reverse;
//! - a hidden row keeps its position, so that showing it again needs no sorting;
//! - a change costs a search and moving the indices between the old and the new position; no change costs a comparison.
//!
//! Elsewhere: the filter and the keys, which come from the owner of the rows.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// Whether the filter shows a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    Shown,
    Hidden,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    #[default]
    Ascending,
    Descending,
}

impl Direction {
    pub fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// Rows by id, sorted by key. Each may carry a value, so that a filter needs no lookup.
///
/// Rows are in `slots` and never move; only their numbers are sorted, four bytes each, so that a row among 100,000 moves at
/// most 400 kB.
#[derive(Debug, Clone)]
pub struct Order<K, Id, Carried = ()> {
    slots: Vec<Slot<K, Id, Carried>>,
    free: Vec<u32>,
    by_id: BTreeMap<Id, u32>,
    /// Every row, ascending.
    all: Vec<u32>,
    /// The shown rows, ascending.
    shown: Vec<u32>,
    direction: Direction,
    departures: u64,
}

#[derive(Debug, Clone)]
struct Slot<K, Id, Carried> {
    key: K,
    id: Id,
    carried: Carried,
    membership: Membership,
}

impl<K, Id, Carried> Default for Order<K, Id, Carried> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_id: BTreeMap::new(),
            all: Vec::new(),
            shown: Vec::new(),
            direction: Direction::Ascending,
            departures: 0,
        }
    }
}

/// Rows without a carried value.
impl<K: Ord, Id: Ord + Clone> Order<K, Id> {
    /// Sorts many rows at once. Of rows with the same id, the last one is kept. The direction stays.
    pub fn rebuild(&mut self, rows: impl IntoIterator<Item = (Id, K, Membership)>) {
        let (direction, departures) = (self.direction, self.departures + 1);
        *self = Self { direction, departures, ..Self::default() };
        let rows: BTreeMap<Id, (K, Membership)> =
            rows.into_iter().map(|(id, key, membership)| (id, (key, membership))).collect();
        for (id, (key, membership)) in rows {
            self.slots.push(Slot { key, id, carried: (), membership });
        }
        self.by_id = (0u32..).zip(&self.slots).map(|(slot, row)| (row.id.clone(), slot)).collect();
        self.all = (0u32..).zip(&self.slots).map(|(slot, _)| slot).collect();
        self.sort_all();
    }

    /// Inserts or updates a row, and returns whether shown rows may differ.
    pub fn upsert(&mut self, id: &Id, key: K, membership: Membership) -> bool {
        self.put(id, key, (), membership)
    }

    /// Filters every row again. Sorts nothing.
    pub fn refilter(&mut self, mut ask: impl FnMut(&Id) -> Membership) {
        self.refilter_by(|id, ()| ask(id));
    }

    /// Sorts by other keys.
    pub fn resort(&mut self, mut key: impl FnMut(&Id) -> K) {
        self.resort_by(|id, ()| key(id));
    }
}

impl<K: Ord, Id: Ord + Clone, Carried> Order<K, Id, Carried> {
    /// Inserts or updates a row, and returns whether shown rows may differ.
    pub fn put(&mut self, id: &Id, key: K, carried: Carried, membership: Membership) -> bool {
        let Some(&slot) = self.by_id.get(id) else {
            self.insert(Slot { key, id: id.clone(), carried, membership });
            return membership == Membership::Shown;
        };
        let row = &mut self.slots[slot as usize];
        row.carried = carried;
        let was = row.membership;
        if row.key != key {
            self.rekey(slot, key);
        }
        self.slots[slot as usize].membership = membership;
        match (was, membership) {
            (Membership::Hidden, Membership::Hidden) => return false,
            (Membership::Shown, Membership::Shown) => {}
            (Membership::Hidden, Membership::Shown) => {
                let place = self.place(&self.shown, slot);
                self.shown.insert(place, slot);
            }
            (Membership::Shown, Membership::Hidden) => {
                let place = self.place(&self.shown, slot);
                self.shown.remove(place);
            }
        }
        true
    }

    /// Removes a row, and returns whether it existed.
    pub fn remove(&mut self, id: &Id) -> bool {
        let Some(slot) = self.by_id.remove(id) else { return false };
        self.departures += 1;
        self.all.remove(self.place(&self.all, slot));
        if self.slots[slot as usize].membership == Membership::Shown {
            self.shown.remove(self.place(&self.shown, slot));
        }
        self.free.push(slot);
        true
    }

    /// Filters every row again, with its carried value. Sorts nothing.
    pub fn refilter_by(&mut self, mut ask: impl FnMut(&Id, &Carried) -> Membership) {
        self.shown.clear();
        for &slot in &self.all {
            let row = &mut self.slots[slot as usize];
            row.membership = ask(&row.id, &row.carried);
            if row.membership == Membership::Shown {
                self.shown.push(slot);
            }
        }
    }

    /// Filters every row again and changes its key, then sorts.
    pub fn rearrange_by(&mut self, mut ask: impl FnMut(&Id, &Carried, &mut K) -> Membership) {
        for &slot in &self.all {
            let row = &mut self.slots[slot as usize];
            row.membership = ask(&row.id, &row.carried, &mut row.key);
        }
        self.sort_all();
    }

    /// Sorts by other keys.
    pub fn resort_by(&mut self, mut key: impl FnMut(&Id, &Carried) -> K) {
        self.rekey_by(|id, carried, old| *old = key(id, carried));
    }

    /// Changes the key of every row, then sorts.
    pub fn rekey_by(&mut self, mut change: impl FnMut(&Id, &Carried, &mut K)) {
        for &slot in &self.all {
            let row = &mut self.slots[slot as usize];
            change(&row.id, &row.carried, &mut row.key);
        }
        self.sort_all();
    }

    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Changes the direction in constant time.
    pub fn set_direction(&mut self, direction: Direction) {
        self.direction = direction;
    }

    /// Number of rows, hidden ones included.
    pub fn total(&self) -> usize {
        self.all.len()
    }

    /// Number of removals: while it is equal, all earlier rows still exist.
    pub fn departures(&self) -> u64 {
        self.departures
    }

    /// Number of shown rows.
    pub fn shown(&self) -> usize {
        self.shown.len()
    }

    /// The shown row at an index.
    pub fn get(&self, index: usize) -> Option<&Id> {
        let slot = *self.shown.get(self.turned(index)?)?;
        Some(&self.slots[slot as usize].id)
    }

    /// The rows of a window, limited to the existing ones.
    pub fn window(&self, window: Range<usize>) -> impl Iterator<Item = &Id> {
        let end = window.end.min(self.shown.len());
        (window.start.min(end)..end).filter_map(|index| self.get(index))
    }

    /// Index of a row among the shown ones.
    pub fn position(&self, id: &Id) -> Option<usize> {
        let slot = *self.by_id.get(id)?;
        match self.slots[slot as usize].membership {
            Membership::Shown => self.turned(self.place(&self.shown, slot)),
            Membership::Hidden => None,
        }
    }

    /// Whether the row exists, shown or hidden.
    pub fn contains(&self, id: &Id) -> bool {
        self.by_id.contains_key(id)
    }

    /// The carried value of a row, shown or hidden.
    pub fn value(&self, id: &Id) -> Option<&Carried> {
        self.by_id.get(id).map(|slot| &self.slots[*slot as usize].carried)
    }

    /// The carried value of a row, if it is shown.
    pub fn shown_value(&self, id: &Id) -> Option<&Carried> {
        let row = &self.slots[*self.by_id.get(id)? as usize];
        (row.membership == Membership::Shown).then_some(&row.carried)
    }

    /// Every shown row with its carried value.
    pub fn shown_values(&self) -> impl Iterator<Item = (&Id, &Carried)> {
        self.shown.iter().map(|slot| &self.slots[*slot as usize]).map(|row| (&row.id, &row.carried))
    }

    /// The sort key of a row.
    pub fn key(&self, id: &Id) -> Option<&K> {
        self.by_id.get(id).map(|slot| &self.slots[*slot as usize].key)
    }

    /// Index of the first shown row at or after this position; the end when there is none.
    pub fn lower_bound(&self, key: &K, id: &Id) -> usize {
        let before = |slot: &u32| self.against(*slot, key, id);
        match self.direction {
            Direction::Ascending => self.shown.partition_point(|slot| before(slot) == Ordering::Less),
            Direction::Descending => {
                self.shown.len() - self.shown.partition_point(|slot| before(slot) != Ordering::Greater)
            }
        }
    }

    fn insert(&mut self, row: Slot<K, Id, Carried>) {
        let (id, membership) = (row.id.clone(), row.membership);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = row;
                slot
            }
            None => {
                self.slots.push(row);
                u32::try_from(self.slots.len() - 1).expect("a list has fewer than 2^32 rows")
            }
        };
        self.by_id.insert(id, slot);
        self.all.insert(self.place(&self.all, slot), slot);
        if membership == Membership::Shown {
            self.shown.insert(self.place(&self.shown, slot), slot);
        }
    }

    /// Changes a row's key: only the rows between its old and new position move.
    fn rekey(&mut self, slot: u32, key: K) {
        let old = (self.place(&self.all, slot), self.place(&self.shown, slot));
        let id = self.slots[slot as usize].id.clone();
        let target = |list: &[u32]| list.partition_point(|one| self.against(*one, &key, &id) == Ordering::Less);
        let new = (target(&self.all), target(&self.shown));
        let is_shown = self.slots[slot as usize].membership == Membership::Shown;
        self.slots[slot as usize].key = key;
        shift(&mut self.all, old.0, new.0);
        if is_shown {
            shift(&mut self.shown, old.1, new.1);
        }
    }

    /// Position of a row in a sorted list, or where it would be inserted.
    fn place(&self, list: &[u32], slot: u32) -> usize {
        let row = &self.slots[slot as usize];
        list.partition_point(|one| self.against(*one, &row.key, &row.id) == Ordering::Less)
    }

    fn against(&self, slot: u32, key: &K, id: &Id) -> Ordering {
        let row = &self.slots[slot as usize];
        row.key.cmp(key).then_with(|| row.id.cmp(id))
    }

    fn sort_all(&mut self) {
        let slots = &self.slots;
        self.all.sort_unstable_by(|one, other| {
            let (one, other) = (&slots[*one as usize], &slots[*other as usize]);
            one.key.cmp(&other.key).then_with(|| one.id.cmp(&other.id))
        });
        let is_shown = |slot: &u32| slots[*slot as usize].membership == Membership::Shown;
        self.shown.clear();
        self.shown.extend(self.all.iter().copied().filter(is_shown));
    }

    /// The index counted from the other end, in reverse order. It is its own inverse.
    fn turned(&self, index: usize) -> Option<usize> {
        match self.direction {
            Direction::Ascending => Some(index),
            Direction::Descending => self.shown.len().checked_sub(index + 1),
        }
    }
}

/// Moves the item at `old` before the one at `new`.
fn shift(list: &mut [u32], old: usize, new: usize) {
    if new > old {
        // `new` was counted with the item still at its old position.
        list[old..new].rotate_left(1);
    } else {
        list[new..=old].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Upsert(u8, u8, bool),
        Remove(u8),
        Refilter(u8),
        Resort(u8),
        Reverse,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0u8..24, 0u8..6, any::<bool>()).prop_map(|(id, key, shown)| Step::Upsert(id, key, shown)),
            2 => (0u8..24).prop_map(Step::Remove),
            1 => (0u8..8).prop_map(Step::Refilter),
            1 => (1u8..9).prop_map(Step::Resort),
            1 => Just(Step::Reverse),
        ]
    }

    fn member(shown: bool) -> Membership {
        if shown { Membership::Shown } else { Membership::Hidden }
    }

    /// The same, sorted after every step.
    #[derive(Default)]
    struct Naive {
        rows: BTreeMap<u8, (u8, bool)>,
        descending: bool,
    }

    impl Naive {
        fn take(&mut self, step: &Step) {
            match *step {
                Step::Upsert(id, key, shown) => _ = self.rows.insert(id, (key, shown)),
                Step::Remove(id) => _ = self.rows.remove(&id),
                Step::Refilter(limit) => self.rows.iter_mut().for_each(|(id, row)| row.1 = id % 8 >= limit),
                Step::Resort(by) => self.rows.iter_mut().for_each(|(id, row)| row.0 = id % by),
                Step::Reverse => self.descending = !self.descending,
            }
        }

        fn shown(&self) -> Vec<u8> {
            let mut rows: Vec<(u8, u8)> =
                self.rows.iter().filter(|(_, row)| row.1).map(|(id, row)| (row.0, *id)).collect();
            rows.sort_unstable();
            if self.descending {
                rows.reverse();
            }
            rows.into_iter().map(|(_, id)| id).collect()
        }
    }

    fn take(order: &mut Order<u8, u8>, step: &Step) {
        match *step {
            Step::Upsert(id, key, shown) => _ = order.upsert(&id, key, member(shown)),
            Step::Remove(id) => _ = order.remove(&id),
            Step::Refilter(limit) => order.refilter(|id| member(id % 8 >= limit)),
            Step::Resort(by) => order.resort(|id| id % by),
            Step::Reverse => order.set_direction(order.direction().reversed()),
        }
    }

    proptest! {
        #[test]
        fn changes_keep_the_order_of_a_full_sort(steps in prop::collection::vec(step(), 0..80)) {
            let (mut order, mut naive) = (Order::default(), Naive::default());
            for step in &steps {
                take(&mut order, step);
                naive.take(step);
                let expected = naive.shown();
                prop_assert_eq!(order.window(0..usize::MAX).copied().collect::<Vec<_>>(), expected.clone());
                prop_assert_eq!((order.shown(), order.total()), (expected.len(), naive.rows.len()));
                for (place, id) in expected.iter().enumerate() {
                    prop_assert_eq!(order.position(id), Some(place));
                    prop_assert_eq!(order.lower_bound(order.key(id).unwrap(), id), place);
                }
            }
        }

        #[test]
        fn building_at_once_and_one_by_one_are_equal(rows in prop::collection::vec((0u8..24, 0u8..6, any::<bool>()), 0..60)) {
            let (mut at_once, mut one_by_one) = (Order::default(), Order::default());
            at_once.rebuild(rows.iter().map(|(id, key, shown)| (*id, *key, member(*shown))));
            for (id, key, shown) in &rows {
                one_by_one.upsert(id, *key, member(*shown));
            }
            let all = |order: &Order<u8, u8>| order.window(0..usize::MAX).copied().collect::<Vec<_>>();
            prop_assert_eq!(all(&at_once), all(&one_by_one));
            prop_assert_eq!(at_once.total(), one_by_one.total());
        }
    }

    #[test]
    fn filters_and_sorts_use_the_current_carried_value() {
        let mut order: Order<u8, u8, u8> = Order::default();
        for id in 0..4 {
            order.put(&id, 0, id, Membership::Shown);
        }
        order.put(&3, 0, 0, Membership::Shown);
        order.refilter_by(|_, carried| member(*carried < 2));
        assert_eq!(order.window(0..9).copied().collect::<Vec<_>>(), [0, 1, 3]);
        order.resort_by(|_, carried| 9 - *carried);
        assert_eq!(order.window(0..9).copied().collect::<Vec<_>>(), [1, 0, 3]);
    }

    #[test]
    fn one_pass_filters_and_sorts() {
        let mut order: Order<u8, u8, u8> = Order::default();
        for id in 0..4 {
            order.put(&id, 0, id, Membership::Shown);
        }
        order.rearrange_by(|_, carried, key| {
            *key = 9 - *carried;
            member(*carried != 2)
        });
        assert_eq!(order.window(0..9).copied().collect::<Vec<_>>(), [3, 1, 0]);
        assert_eq!((order.shown_value(&3), order.shown_value(&2), order.shown_value(&9)), (Some(&3), None, None));
        assert_eq!(order.shown_values().count(), 3);
    }

    #[test]
    fn only_visible_changes_are_reported() {
        let mut order = Order::default();
        assert!(order.upsert(&1, 'b', Membership::Shown));
        assert!(!order.upsert(&2, 'a', Membership::Hidden));
        assert!(!order.upsert(&2, 'c', Membership::Hidden));
        assert!(order.upsert(&2, 'c', Membership::Shown));
        assert!(order.upsert(&2, 'c', Membership::Shown), "its cells may differ");
        assert!(order.upsert(&2, 'c', Membership::Hidden));
        assert!(order.remove(&2) && !order.remove(&2));
        assert_eq!((order.shown(), order.total(), order.get(1)), (1, 1, None));
    }
}
