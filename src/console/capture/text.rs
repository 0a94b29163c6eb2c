//! Renders a buffer as plain text.

use ratatui::buffer::{Buffer, CellWidth as _};

use crate::console::terminal::shown;
use trueup_core::engine::text::Printable;

/// Returns the rows without trailing spaces.
pub fn text(buffer: &Buffer) -> Printable {
    let mut lines = String::new();
    for y in buffer.area.rows() {
        let start = lines.len();
        let mut x = y.left();
        while x < y.right() {
            let cell = &buffer[(x, y.y)];
            lines.push_str(shown(cell.symbol()));
            // A wide character covers the next cell.
            x += cell.cell_width().max(1);
        }
        let kept = lines[start..].trim_end().len();
        lines.truncate(start + kept);
        lines.push('\n');
    }
    Printable::lines(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_spaces_and_cells_of_wide_characters_are_dropped() {
        let buffer = Buffer::with_lines(["┌ 名前 ──┐", "  a       ", "          ", "└────────┘"]);
        assert_eq!(&*text(&buffer), "┌ 名前 ──┐\n  a\n\n└────────┘\n");
    }

    #[test]
    fn control_characters_never_reach_a_file() {
        let mut buffer = Buffer::with_lines(["abc"]);
        buffer.cell_mut((1, 0)).unwrap().set_symbol("\u{202e}");
        assert_eq!(&*text(&buffer), "a\u{fffd}c\n");
    }
}
