//! Lists as they are seen and clicked.

use std::cell::Cell as Counter;

use ratatui::style::{Color, Modifier};

use super::*;

const LOOK: Look = Look {
    header: Style::new().add_modifier(Modifier::BOLD),
    cursor: Style::new().add_modifier(Modifier::REVERSED),
    mark: Style::new().fg(Color::Cyan),
    doomed: Style::new().add_modifier(Modifier::CROSSED_OUT),
    dimmed: Style::new().add_modifier(Modifier::DIM),
    scrollbar: Style::new().fg(Color::Blue),
    glyphs: Glyphs::UNICODE,
};

struct Row {
    look: RowLook,
    object: &'static str,
}

impl TableRow for &Row {
    fn look(&self) -> RowLook {
        self.look
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match column {
            0 => Cell::text("−", Style::new().fg(Color::Red)),
            1 => Cell::name(self.object, Style::new()),
            2 => Cell::pieces(vec![("├ ".into(), Style::new()), ("guest-payments".into(), Style::new())], Cut::Middle),
            _ => Cell::text("41d", Style::new()),
        }
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("", 1),
        Column::new("OBJECT", 12).weight(1).gap(0),
        Column::new("CLUSTER", 10).priority(1),
        Column::new("AGE", 4).right().priority(2),
    ]
}

fn row(object: &'static str) -> Row {
    Row { look: RowLook::default(), object }
}

fn view<'a>(columns: &'a [Column], total: usize) -> TableView<'a> {
    TableView { columns, sort: Some((1, Direction::Ascending)), look: &LOOK, first: 0, total, border: None }
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let line = |y: u16| {
        let mut text = String::new();
        let mut x = 0;
        while let Some(cell) = buffer.cell((x, y)) {
            text.push_str(cell.symbol());
            x += u16::try_from(cell.symbol().width()).unwrap().max(1);
        }
        text
    };
    (0..buffer.area().height).map(line).collect()
}

fn drawn(rows: &[Row], width: u16, height: u16) -> (Buffer, TableHits) {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let hits = draw(&view(&columns(), rows.len()), rows, area, &mut buffer);
    (buffer, hits)
}

#[test]
fn a_list_shows_header_cursor_and_marks() {
    let rows = [
        Row { look: RowLook { cursor: true, ..RowLook::default() }, object: "Secret ext-auth-client-old" },
        Row { look: RowLook { marked: true, ..RowLook::default() }, object: "ConfigMap 名前-ca" },
    ];
    let (buffer, _) = drawn(&rows, 46, 4);
    assert_eq!(
        lines(&buffer),
        [
            "   OBJECT ▲                   CLUSTER      AGE",
            " ▸−Secret ext-a…h-client-old  ├ gue…ents   41d",
            "✓ −ConfigMap 名前-ca          ├ gue…ents   41d",
            "                                              ",
        ]
    );
}

#[test]
fn a_narrow_list_drops_columns_and_ascii_glyphs_are_ascii() {
    let rows = [Row { look: RowLook { cursor: true, marked: true, ..RowLook::default() }, object: "größe-client" }];
    let (buffer, _) = drawn(&rows, 20, 2);
    assert_eq!(lines(&buffer), ["   OBJECT ▲         ", "✓▸−größe-client     "]);

    let area = Rect::new(0, 0, 20, 2);
    let mut buffer = Buffer::empty(area);
    let look = Look { glyphs: Glyphs::ASCII, ..LOOK };
    let columns = columns();
    let view = TableView { sort: Some((1, Direction::Descending)), look: &look, ..view(&columns, 1) };
    draw(&view, &rows, area, &mut buffer);
    // The sign of the state is the row's to choose; one that is not ASCII has no room to be written out.
    assert_eq!(lines(&buffer), ["   OBJECT v         ", "*>.gr\\u{f6..e-client"]);
}

#[test]
fn the_cursor_row_is_styled_in_full_and_a_deleted_row_only_on_its_text() {
    let look = RowLook { cursor: true, marked: false, tone: Tone::Doomed };
    let (buffer, _) = drawn(&[Row { look, object: "Secret x" }, row("Secret y")], 46, 3);
    for x in 0..46 {
        let (first, second) = (buffer.cell((x, 1)).unwrap(), buffer.cell((x, 2)).unwrap());
        assert!(first.modifier.contains(Modifier::REVERSED) && !second.modifier.contains(Modifier::REVERSED), "{x}");
        let says = first.symbol() != " " && first.symbol() != "▸";
        // The blank between the words of a text belongs to it.
        let struck = first.modifier.contains(Modifier::CROSSED_OUT);
        assert!(struck == says || first.symbol() == " " && struck, "{x}");
        assert!(!struck || x < 30 || says || first.symbol() == " ", "{x}");
    }
    assert!(!buffer.cell((20, 1)).unwrap().modifier.contains(Modifier::CROSSED_OUT), "behind the text");
    assert_eq!(buffer.cell((2, 1)).unwrap().fg, Color::Red, "a cell keeps its colour under the cursor");
}

#[test]
fn a_hostile_name_is_escaped_inside_its_cell() {
    for object in ["\x1b[2J\x1b[H", "a\u{202e}b", "a\r\nb\tc", "\u{200b}\u{301}", "🧑\u{200d}🚀 名前名前名前名前名前"]
    {
        let (buffer, _) = drawn(&[row(object)], 30, 2);
        let line = &lines(&buffer)[1];
        assert!(!line.chars().any(trueup_core::engine::text::misleads), "{line:?}");
        assert_eq!(line.width(), 30, "{line:?}");
        assert!(line.contains("├ gue…ents"), "the next column is where it was: {line:?}");
    }
}

#[test]
fn only_visible_rows_are_requested() {
    let asked = Counter::new(0);
    let area = Rect::new(0, 0, 40, 6);
    let rows = [row("x")];
    let endless = std::iter::from_fn(|| {
        asked.set(asked.get() + 1);
        Some(&rows[0])
    });
    draw(&view(&columns(), 100_000), endless, area, &mut Buffer::empty(area));
    assert_eq!(asked.get(), TableView::lines(area));
}

#[test]
fn a_click_hits_what_was_drawn() {
    let rows = [row("a"), row("b")];
    let (_, hits) = drawn(&rows, 46, 5);
    let cases = [
        ("the first row", (10, 1), Some(0), None),
        ("the second row", (0, 2), Some(1), None),
        ("below the last row", (10, 3), None, None),
        ("a title", (32, 0), None, Some(2)),
        ("between titles", (29, 0), None, None),
        ("outside", (60, 9), None, None),
    ];
    for (case, (x, y), row, column) in cases {
        let at = Position::new(x, y);
        assert_eq!((hits.row_at(at), hits.column_at(at)), (row, column), "case: {case}");
        assert_eq!(hits.pulled_to(at), None, "all rows are in sight");
    }
}

#[test]
fn the_scrollbar_is_at_an_end_only_when_the_window_is() {
    let area = Rect::new(0, 0, 20, 11);
    let cases = [
        ("top", 0, 100, "█.........", Some(0)),
        ("just below", 1, 100, ".█........", Some(0)),
        ("just above the bottom", 89, 100, "........█.", Some(0)),
        ("bottom", 90, 100, ".........█", Some(0)),
        ("half in sight", 5, 20, "..█████...", Some(0)),
        ("one row too many", 1, 11, ".█████████", Some(0)),
        ("a hundred thousand", 50_000, 100_000, "....█.....", Some(0)),
        ("all in sight", 0, 10, "..........", None),
    ];
    for (case, first, total, expected, pulled) in cases {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 21, 11));
        let columns = columns();
        let view = TableView { first, border: Some(20), ..view(&columns, total) };
        let hits = draw(&view, std::iter::empty::<&Row>(), area, &mut buffer);
        let cell = |y: u16| if buffer.cell((20, y)).unwrap().symbol() == " " { "." } else { "█" };
        assert_eq!((1..11).map(cell).collect::<String>(), expected, "case: {case}");
        assert_eq!(hits.pulled_to(Position::new(20, 1)), pulled, "case: {case}");
        if pulled.is_some() {
            assert_eq!(hits.pulled_to(Position::new(20, 10)), Some(total - 10), "case: {case}");
        }
    }
}

#[test]
fn any_size_can_be_drawn() {
    for (width, height) in (0..8).flat_map(|width| (0..4).map(move |height| (width, height))) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 5, 2));
        let columns = columns();
        let view = TableView { border: Some(width), ..view(&columns, 9) };
        draw(&view, &[row("名前"), row("x"), row("y")], Rect::new(0, 0, width, height), &mut buffer);
    }
}
