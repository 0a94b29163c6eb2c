//! Renders a buffer as lines with colours, for commands that print samples.

use ratatui::buffer::{Buffer, CellWidth as _};

use crate::console::terminal::{ColorDepth, Pen, shown};

/// Returns the rows with ANSI colours of this depth.
pub fn ansi(buffer: &Buffer, depth: ColorDepth) -> String {
    let mut lines = Vec::new();
    for row in buffer.area.rows() {
        let mut pen = Pen::default();
        let mut x = row.left();
        while x < row.right() {
            let cell = &buffer[(x, row.y)];
            let next = Pen::of(cell, depth);
            pen.change(next, &mut lines);
            pen = next;
            lines.extend_from_slice(shown(cell.symbol()).as_bytes());
            // A wide character covers the next cell.
            x += cell.cell_width().max(1);
        }
        pen.change(Pen::default(), &mut lines);
        lines.push(b'\n');
    }
    String::from_utf8_lossy(&lines).into_owned()
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "tests name colours")]
mod tests {
    use ratatui::style::{Color, Style};

    use super::*;

    #[test]
    fn a_line_ends_with_reset_attributes() {
        let mut buffer = Buffer::with_lines(["ab", "cd"]);
        buffer.cell_mut((1, 0)).unwrap().set_style(Style::new().fg(Color::Red));
        assert_eq!(ansi(&buffer, ColorDepth::Ansi16), "a\x1b[31mb\x1b[0m\ncd\n");
        assert_eq!(ansi(&buffer, ColorDepth::None), "ab\ncd\n");
    }
}
