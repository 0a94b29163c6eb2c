//! Where everything goes, from the size of the screen alone.
//!
//! Invariants: `update` and `view` ask the same function, so that a page is as long as what is drawn.

use ratatui::layout::Rect;

/// Below this nothing useful fits.
pub const WIDTH_MIN: u16 = 60;
pub const HEIGHT_MIN: u16 = 16;
/// From here on the detail stands beside the list.
const BESIDE_FROM: u16 = 120;
/// From here on the detail stands below the list; before, it opens in its place.
const BELOW_FROM: u16 = 80;
/// How much of the body a list has, in percent, unless somebody moves the divider.
pub const SPLIT: u16 = 55;
/// The furthest the divider goes.
const SPLIT_RANGE: (u16, u16) = (25, 75);
/// What a box needs beside its rows: a border above and below.
const BORDERS: u16 = 2;

/// The rectangles of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub header: Rect,
    pub tabs: Rect,
    /// The list, or whatever has the whole body.
    pub main: Rect,
    /// What follows the cursor, when there is room for both.
    pub detail: Option<Rect>,
    pub hints: Rect,
}

/// How a screen's body is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// One thing.
    Whole,
    /// A list and its detail, as the width allows.
    ListAndDetail,
    /// A list and what belongs to it, one above the other at any width; the lower has so many percent.
    Stacked(u16),
}

impl Layout {
    /// The layout, or nothing when the screen is too small.
    pub fn of(area: Rect, body: Body, split: u16) -> Option<Self> {
        if area.width < WIDTH_MIN || area.height < HEIGHT_MIN {
            return None;
        }
        let line = |y: u16| Rect { x: area.x, y: area.y + y, width: area.width, height: 1 };
        let whole = Rect { x: area.x, y: area.y + 2, width: area.width, height: area.height - 3 };
        let (main, detail) = divided(whole, body, split.clamp(SPLIT_RANGE.0, SPLIT_RANGE.1));
        Some(Self { header: line(0), tabs: line(1), main, detail, hints: line(area.height - 1) })
    }

    /// How many rows a list with a line of column titles shows.
    pub fn rows(&self) -> usize {
        usize::from(self.main.height.saturating_sub(BORDERS + 1))
    }

    /// How many lines of text the detail shows.
    pub fn detail_lines(&self) -> usize {
        usize::from(self.detail.unwrap_or(self.main).height.saturating_sub(BORDERS))
    }
}

/// The split after the divider was moved by so many percent.
pub fn moved(split: u16, by: i16) -> u16 {
    split.saturating_add_signed(by).clamp(SPLIT_RANGE.0, SPLIT_RANGE.1)
}

fn divided(whole: Rect, body: Body, split: u16) -> (Rect, Option<Rect>) {
    match body {
        Body::Whole => (whole, None),
        Body::ListAndDetail if whole.width >= BESIDE_FROM => {
            let width = share(whole.width, split);
            let right = Rect { x: whole.x + width, width: whole.width - width, ..whole };
            (Rect { width, ..whole }, Some(right))
        }
        Body::ListAndDetail if whole.width >= BELOW_FROM => stacked(whole, 100 - split),
        Body::ListAndDetail => (whole, None),
        Body::Stacked(below) => stacked(whole, below),
    }
}

fn stacked(whole: Rect, below: u16) -> (Rect, Option<Rect>) {
    let height = whole.height - share(whole.height, below);
    let lower = Rect { y: whole.y + height, height: whole.height - height, ..whole };
    (Rect { height, ..whole }, Some(lower))
}

fn share(of: u16, percent: u16) -> u16 {
    u16::try_from(u32::from(of) * u32::from(percent) / 100).expect("a part is no larger than the whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detail_stands_where_there_is_room() {
        let cases = [
            ("too narrow", 59, 40, None),
            ("too low", 100, 15, None),
            ("narrow: the list alone", 79, 24, Some(None)),
            ("below the list", 80, 24, Some(Some((0, 80)))),
            ("beside the list", 120, 40, Some(Some((66, 54)))),
        ];
        for (case, width, height, expected) in cases {
            let layout = Layout::of(Rect::new(0, 0, width, height), Body::ListAndDetail, SPLIT);
            let detail = layout.map(|layout| layout.detail.map(|detail| (detail.x, detail.width)));
            assert_eq!(detail, expected, "case: {case}");
        }
    }

    #[test]
    fn nothing_is_lost_between_the_parts() {
        for body in [Body::Whole, Body::ListAndDetail, Body::Stacked(40)] {
            for width in WIDTH_MIN..220 {
                let area = Rect::new(0, 0, width, 40);
                let layout = Layout::of(area, body, SPLIT).unwrap();
                let cells = |rect: Rect| u32::from(rect.width) * u32::from(rect.height);
                let parts = [layout.header, layout.tabs, layout.main, layout.hints].into_iter().chain(layout.detail);
                assert_eq!(parts.map(cells).sum::<u32>(), cells(area), "{body:?} {width}");
            }
        }
    }
}
