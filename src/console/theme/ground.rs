//! The ground of a selected row, and the contrast of a text on it.
//!
//! Invariants: a selected row has one ground over all of its cells. A cell keeps its own colour only where it can be read
//! there: never in a theme without exact colours, where nothing is known of either.

#![expect(clippy::disallowed_types, reason = "compares the colours of a theme")]

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// Least contrast of a state's colour on the ground of a selected row. Glyph and word repeat it.
const CONTRAST_MIN: f64 = 2.5;
/// Attributes that a cell keeps: they mean a deletion and a match of the filter.
const KEPT: Modifier = Modifier::CROSSED_OUT.union(Modifier::UNDERLINED);

/// Gives a drawn row the ground of a selected row.
pub fn select(buffer: &mut Buffer, row: Rect, selection: Style) {
    let row = row.intersection(*buffer.area());
    for y in row.top()..row.bottom() {
        // Neighbours share their colour: it is compared once for each run.
        let mut last: Option<(Color, bool)> = None;
        for x in row.left()..row.right() {
            let cell = &mut buffer[(x, y)];
            let own = cell.fg;
            let keeps = match (selection.bg, last) {
                (None, _) => false,
                (Some(_), Some((color, keeps))) if color == own => keeps,
                (Some(ground), _) => contrast(own, ground).is_some_and(|found| found >= CONTRAST_MIN),
            };
            last = Some((own, keeps));
            let kept = cell.modifier & KEPT;
            cell.set_style(Style::reset().patch(selection));
            cell.modifier |= kept;
            if keeps {
                cell.fg = own;
            }
        }
    }
}

/// WCAG 2 contrast of two exact colours.
pub fn contrast(one: Color, other: Color) -> Option<f64> {
    let light = |color: Color| match color {
        Color::Rgb(red, green, blue) => {
            let [red, green, blue] = [red, green, blue].map(linear);
            Some(0.2126 * red + 0.7152 * green + 0.0722 * blue)
        }
        _ => None,
    };
    let (one, other) = (light(one)?, light(other)?);
    Some((one.max(other) + 0.05) / (one.min(other) + 0.05))
}

/// Linear light of a channel.
pub fn linear(channel: u8) -> f64 {
    let channel = f64::from(channel) / 255.0;
    if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use crate::console::task::TaskReply;
    use crate::console::testing::TestConsole;
    use crate::console::tests::fixtures;
    use crate::console::theme::{Role, Themes};

    use super::*;

    /// The row of the cursor, in every theme and on every screen with a list.
    #[test]
    fn the_selected_row_has_one_ground_over_all_cells_in_every_theme() {
        let themes = Themes::built_in();
        for name in themes.names() {
            let theme = themes.resolve(name).unwrap();
            for keys in ["0", "1", "gp", "ga"] {
                let mut stage = TestConsole::full();
                stage.planned(fixtures::plan(fixtures::actions())).keys(keys);
                stage.reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) });
                let buffer = stage.buffer(120, 40, theme.clone());
                let row = (0..40).find(|y| (0..3).any(|x| buffer[(x, *y)].symbol() == "▸"));
                let Some(y) = row else { panic!("{name} {keys}: no cursor") };
                let ground = |x: u16| {
                    let cell = &buffer[(x, y)];
                    (cell.bg, cell.modifier.contains(Modifier::REVERSED))
                };
                // The last column is the scrollbar's.
                let grounds: Vec<_> = (0..119).map(ground).collect();
                assert!(grounds.iter().all(|one| *one == grounds[0]), "{name} {keys}: {grounds:?}");
                assert_ne!(grounds[0], (theme.style(Role::Text).bg.unwrap_or_default(), false), "{name} {keys}");
                let own = |x: u16| buffer[(x, y)].fg != theme.style(Role::Selection).fg.unwrap_or_default();
                assert!(theme.style(Role::Selection).bg.is_some() || !(0..119).any(own), "{name} {keys}");
            }
        }
    }

    #[test]
    fn a_cell_keeps_its_colour_where_it_can_be_read() {
        let ground = Style::new().fg(Color::Rgb(0, 0, 0)).bg(Color::Rgb(255, 255, 0));
        let cases = [
            ("dark on light", Color::Rgb(0, 0, 200), Color::Rgb(0, 0, 200)),
            ("light on light", Color::Rgb(255, 255, 255), Color::Rgb(0, 0, 0)),
            ("not exact", Color::Red, Color::Rgb(0, 0, 0)),
        ];
        for (case, own, expected) in cases {
            let mut buffer = Buffer::with_lines(["x"]);
            buffer[(0, 0)].set_style(Style::new().fg(own).bg(Color::Rgb(1, 2, 3)));
            select(&mut buffer, Rect::new(0, 0, 1, 1), ground);
            assert_eq!((buffer[(0, 0)].fg, buffer[(0, 0)].bg), (expected, Color::Rgb(255, 255, 0)), "case: {case}");
        }
    }
}
