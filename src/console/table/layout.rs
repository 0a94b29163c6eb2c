//! Column widths.
//!
//! Invariants:
//! - columns never overlap and never exceed the given width;
//! - columns are dropped by priority; a column with priority 0 is dropped only when no other is left;
//! - a column gets what its contents need before a less important one gets more than its minimum.

/// A column of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub title: String,
    pub align: Align,
    /// Smallest useful width.
    pub width_min: u16,
    /// What its contents need, where that is known.
    pub content: Option<u16>,
    /// Share of the remaining width; 0 keeps the minimum.
    pub weight: u16,
    /// Drop order: the highest first. 0 is never dropped.
    pub priority: u8,
    /// Spaces before it, unless it is the first.
    pub gap: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A visible column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Index of the column.
    pub index: usize,
    /// Offset from the left.
    pub x: u16,
    pub width: u16,
}

impl Column {
    /// A left-aligned column with two spaces before it, never dropped, of fixed width.
    pub fn new(title: impl Into<String>, width_min: u16) -> Self {
        Self { title: title.into(), align: Align::Left, width_min, content: None, weight: 0, priority: 0, gap: 2 }
    }

    pub fn right(self) -> Self {
        Self { align: Align::Right, ..self }
    }

    /// Grows up to the width of its contents.
    pub fn content(self, width: u16) -> Self {
        Self { content: Some(width), ..self }
    }

    pub fn weight(self, weight: u16) -> Self {
        Self { weight, ..self }
    }

    pub fn priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    pub fn gap(self, gap: u16) -> Self {
        Self { gap, ..self }
    }
}

/// Places the columns that fit, from left to right.
pub fn layout(columns: &[Column], width: u16) -> Vec<Placed> {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    while needed(columns, &kept) > u32::from(width) {
        // Of equal priorities, the rightmost.
        let least = kept.iter().rposition(|index| {
            let highest = kept.iter().map(|one| columns[*one].priority).max();
            Some(columns[*index].priority) == highest && columns[*index].priority > 0
        });
        match least {
            Some(place) => kept.remove(place),
            None => break,
        };
    }
    let spare = u32::from(width).saturating_sub(needed(columns, &kept));
    let (widths, spare) = filled(columns, &kept, spare);
    let weights: u64 = kept.iter().map(|index| u64::from(columns[*index].weight)).sum();
    let (mut placed, mut x, mut seen, mut given) = (Vec::with_capacity(kept.len()), 0u16, 0u64, 0u64);
    for (index, least) in kept.into_iter().zip(widths) {
        let column = &columns[index];
        // Shares are cut from the running total, so that rounding is carried to the next column.
        seen += u64::from(column.weight);
        let due = (u64::from(spare) * seen).checked_div(weights).unwrap_or(0);
        let share = u16::try_from(due - given).unwrap_or(u16::MAX);
        given = due;
        let gap = if placed.is_empty() { 0 } else { column.gap };
        let start = x.saturating_add(gap).min(width);
        let space = width - start;
        let width_here = least.saturating_add(share).min(space);
        if width_here > 0 {
            placed.push(Placed { index, x: start, width: width_here });
            x = start + width_here;
        }
    }
    placed
}

/// The widths of the kept columns with what their contents need, as far as there is space, and the space left over.
fn filled(columns: &[Column], kept: &[usize], mut spare: u32) -> (Vec<u16>, u32) {
    let mut widths: Vec<u16> = kept.iter().map(|index| columns[*index].width_min).collect();
    let mut order: Vec<usize> = (0..kept.len()).collect();
    order.sort_by_key(|place| columns[kept[*place]].priority);
    for place in order {
        let wanted = columns[kept[place]].content.map_or(0, |content| content.saturating_sub(widths[place]));
        let given = wanted.min(u16::try_from(spare).unwrap_or(u16::MAX));
        widths[place] += given;
        spare -= u32::from(given);
    }
    (widths, spare)
}

/// Minimum width of the columns, gaps included.
fn needed(columns: &[Column], kept: &[usize]) -> u32 {
    let width = |(place, index): (usize, &usize)| {
        let column = &columns[*index];
        u32::from(column.width_min) + if place == 0 { 0 } else { u32::from(column.gap) }
    };
    kept.iter().enumerate().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn columns() -> Vec<Column> {
        vec![
            Column::new("", 1),
            Column::new("OBJECT", 10).weight(2).gap(0),
            Column::new("CLUSTER", 8).weight(1).priority(1),
            Column::new("VERDICT", 7).priority(2),
            Column::new("AGE", 4).right().priority(1),
        ]
    }

    #[test]
    fn columns_are_dropped_by_priority() {
        let cases = [
            ("space to spare", 60, vec![(0, 0, 1), (1, 1, 26), (2, 29, 16), (3, 47, 7), (4, 56, 4)]),
            ("just enough", 36, vec![(0, 0, 1), (1, 1, 10), (2, 13, 8), (3, 23, 7), (4, 32, 4)]),
            ("the least important goes", 35, vec![(0, 0, 1), (1, 1, 15), (2, 18, 11), (4, 31, 4)]),
            ("then of equals the right one", 26, vec![(0, 0, 1), (1, 1, 13), (2, 16, 10)]),
            ("then the other", 20, vec![(0, 0, 1), (1, 1, 19)]),
            ("what never goes is cut", 6, vec![(0, 0, 1), (1, 1, 5)]),
            ("one column", 1, vec![(0, 0, 1)]),
            ("no space", 0, vec![]),
        ];
        for (case, width, expected) in cases {
            let placed: Vec<_> = layout(&columns(), width).iter().map(|one| (one.index, one.x, one.width)).collect();
            assert_eq!(placed, expected, "case: {case}");
        }
        assert_eq!(layout(&[], 80), []);
    }

    #[test]
    fn a_column_grows_to_its_contents_the_most_important_first() {
        let columns = [
            Column::new("", 2),
            Column::new("NAME", 8).content(20).gap(0),
            Column::new("CLUSTER", 5).content(9).priority(1),
            Column::new("VERDICT", 7).priority(2),
        ];
        let cases = [
            ("enough for all, the rest stays free", 80, vec![2, 20, 9, 7]),
            ("the name first", 39, vec![2, 20, 6, 7]),
            ("not enough for the name", 33, vec![2, 15, 5, 7]),
        ];
        for (case, width, expected) in cases {
            let widths: Vec<u16> = layout(&columns, width).iter().map(|one| one.width).collect();
            assert_eq!(widths, expected, "case: {case}");
        }
    }

    proptest! {
        #[test]
        fn columns_keep_their_order_and_stay_within_the_width(
            sizes in prop::collection::vec((0u16..30, prop_oneof![0u16..4, Just(u16::MAX)], 0u8..4, 0u16..4), 0..10),
            contents in prop::collection::vec(prop::option::of(0u16..40), 10),
            width in 0u16..200,
        ) {
            let columns: Vec<Column> = sizes
                .iter()
                .zip(contents)
                .map(|((min, weight, priority, gap), content)| {
                    Column { content, ..Column::new("X", *min).weight(*weight).priority(*priority).gap(*gap) }
                })
                .collect();
            let placed = layout(&columns, width);
            let mut end = 0;
            for one in &placed {
                prop_assert!(one.x >= end && one.width > 0);
                end = one.x + one.width;
            }
            prop_assert!(end <= width);
            prop_assert!(placed.is_sorted_by(|one, other| one.index < other.index));
        }
    }
}
