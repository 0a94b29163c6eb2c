//! Layout of the screen, from its size alone.
//!
//! Invariants: `update` and `view` use the same function, so that a page is as long as what is drawn.

use ratatui::layout::Rect;

/// Smaller screens are not supported.
pub const WIDTH_MIN: u16 = 30;
pub const HEIGHT_MIN: u16 = 6;
/// On smaller screens there is the list alone, without header, tabs and detail.
const WHOLE_FROM: (u16, u16) = (60, 15);
/// Smallest screen that shows all of a dialog that asks for a confirmation.
pub const DIALOG_MIN: (u16, u16) = (60, 16);
/// From this width the detail is beside the list.
const BESIDE_FROM: u16 = 160;
/// From this width the detail is below the list; on smaller screens it replaces the list.
const BELOW_FROM: u16 = 100;
/// Default share of the list, in percent.
pub const SPLIT: u16 = 55;
/// Range of the divider.
const SPLIT_RANGE: (u16, u16) = (25, 75);
/// The title rule of a pane.
pub const RULE: u16 = 1;

/// The rectangles of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub header: Rect,
    pub tabs: Rect,
    /// The list, or the only pane.
    pub main: Rect,
    /// The detail, when there is space for both.
    pub detail: Option<Rect>,
    pub hints: Rect,
}

/// How a screen's body is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// One pane.
    Whole,
    /// A list and its detail, beside or below by width.
    ListAndDetail,
    /// A list above a second pane at any width; the second has this many percent.
    Stacked(u16),
}

impl Layout {
    /// Returns the layout, or none when the screen is too small.
    pub fn of(area: Rect, body: Body, split: u16) -> Option<Self> {
        if area.width < WIDTH_MIN || area.height < HEIGHT_MIN {
            return None;
        }
        if area.width < WHOLE_FROM.0 || area.height < WHOLE_FROM.1 {
            let none = Rect { height: 0, ..area };
            let main = Rect { height: area.height - 1, ..area };
            let hints = Rect { y: area.y + area.height - 1, height: 1, ..area };
            return Some(Self { header: none, tabs: none, main, detail: None, hints });
        }
        let line = |y: u16| Rect { x: area.x, y: area.y + y, width: area.width, height: 1 };
        let whole = Rect { x: area.x, y: area.y + 2, width: area.width, height: area.height - 3 };
        let (main, detail) = divided(whole, body, split.clamp(SPLIT_RANGE.0, SPLIT_RANGE.1));
        Some(Self { header: line(0), tabs: line(1), main, detail, hints: line(area.height - 1) })
    }

    /// Rows of a list with a header line.
    pub fn rows(&self) -> usize {
        usize::from(self.main.height.saturating_sub(RULE + 1))
    }

    /// Lines of text in the detail.
    pub fn detail_lines(&self) -> usize {
        usize::from(self.detail.unwrap_or(self.main).height.saturating_sub(RULE))
    }
}

/// Whether a dialog that asks for a confirmation is shown in full.
pub fn fits_dialog(area: Rect) -> bool {
    area.width >= DIALOG_MIN.0 && area.height >= DIALOG_MIN.1
}

/// The split after moving the divider by this many percent.
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
    fn the_detail_is_placed_by_width() {
        let cases = [
            ("too narrow", 29, 40, None),
            ("too low", 100, 5, None),
            ("small: the list alone", 59, 40, Some(None)),
            ("low: the list alone", 200, 14, Some(None)),
            ("narrow: the list alone", 80, 24, Some(None)),
            ("below the list", 120, 40, Some(Some((0, 120)))),
            ("beside the list", 160, 45, Some(Some((88, 72)))),
        ];
        for (case, width, height, expected) in cases {
            let layout = Layout::of(Rect::new(0, 0, width, height), Body::ListAndDetail, SPLIT);
            let detail = layout.map(|layout| layout.detail.map(|detail| (detail.x, detail.width)));
            assert_eq!(detail, expected, "case: {case}");
        }
    }

    #[test]
    fn the_areas_cover_the_screen() {
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
