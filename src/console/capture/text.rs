//! The screen as plain lines.

use ratatui::buffer::{Buffer, CellWidth as _};

use crate::console::terminal::shown;

/// The rows, without the spaces at their ends.
pub fn text(buffer: &Buffer) -> String {
    let mut lines = String::new();
    for y in buffer.area.rows() {
        let start = lines.len();
        let mut x = y.left();
        while x < y.right() {
            let cell = &buffer[(x, y.y)];
            lines.push_str(shown(cell.symbol()));
            // A wide letter covers the cell after it.
            x += cell.cell_width().max(1);
        }
        let kept = lines[start..].trim_end().len();
        lines.truncate(start + kept);
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lose_their_ends_and_wide_letters_their_shadows() {
        let buffer = Buffer::with_lines(["┌ 名前 ──┐", "  a       ", "          ", "└────────┘"]);
        assert_eq!(text(&buffer), "┌ 名前 ──┐\n  a\n\n└────────┘\n");
    }

    #[test]
    fn nothing_that_steers_a_terminal_gets_into_a_file() {
        let mut buffer = Buffer::with_lines(["abc"]);
        buffer.cell_mut((1, 0)).unwrap().set_symbol("\u{202e}");
        assert_eq!(text(&buffer), "a\u{fffd}c\n");
    }
}
