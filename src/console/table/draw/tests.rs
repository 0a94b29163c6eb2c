//! Lists as they are seen and clicked.

#![expect(clippy::disallowed_types, reason = "tests name colours")]

use std::cell::Cell as Counter;

use ratatui::style::{Color, Modifier};

use super::*;

const LOOK: TableStyle = TableStyle {
    header: Style::new().add_modifier(Modifier::BOLD),
    cursor: Style::new().add_modifier(Modifier::REVERSED),
    mark: Style::new().fg(Color::Cyan),
    doomed: Style::new().add_modifier(Modifier::CROSSED_OUT),
    dimmed: Style::new().add_modifier(Modifier::DIM),
    scrollbar: Style::new().fg(Color::Blue),
    glyphs: Glyphs::UNICODE,
};

struct Row {
    style: RowStyle,
    object: &'static str,
}

impl TableRow for &Row {
    fn style(&self) -> RowStyle {
        self.style
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
    Row { style: RowStyle::default(), object }
}

fn view<'a>(columns: &'a [Column], total: usize) -> TableView<'a> {
    TableView { columns, sort: Some((1, Direction::Ascending)), style: &LOOK, first: 0, total, border: None }
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
        Row { style: RowStyle { cursor: true, ..RowStyle::default() }, object: "Secret ext-auth-client-old" },
        Row { style: RowStyle { marked: true, ..RowStyle::default() }, object: "ConfigMap 名前-ca" },
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
    let rows =
        [Row { style: RowStyle { cursor: true, marked: true, ..RowStyle::default() }, object: "größe-client" }];
    let (buffer, _) = drawn(&rows, 20, 2);
    assert_eq!(lines(&buffer), ["   OBJECT ▲         ", "✓▸−größe-client     "]);

    let area = Rect::new(0, 0, 20, 2);
    let mut buffer = Buffer::empty(area);
    let style = TableStyle { glyphs: Glyphs::ASCII, ..LOOK };
    let columns = columns();
    let view = TableView { sort: Some((1, Direction::Descending)), style: &style, ..view(&columns, 1) };
    draw(&view, &rows, area, &mut buffer);
    // The sign of the state is the row's to choose; one that is not ASCII cannot be written out.
    assert_eq!(lines(&buffer), ["   OBJECT v         ", "*>.gr\\u{f6..e-client"]);
}

#[test]
fn the_cursor_row_is_styled_in_full_and_a_deleted_row_only_on_its_text() {
    let style = RowStyle { cursor: true, marked: false, tone: Tone::Doomed };
    let (buffer, _) = drawn(&[Row { style, object: "Secret x" }, row("Secret y")], 46, 3);
    for x in 0..46 {
        let (first, second) = (buffer.cell((x, 1)).unwrap(), buffer.cell((x, 2)).unwrap());
        assert!(first.modifier.contains(Modifier::REVERSED) && !second.modifier.contains(Modifier::REVERSED), "{x}");
        let message = first.symbol() != " " && first.symbol() != "▸";
        // The blank between the words of a text belongs to it.
        let struck = first.modifier.contains(Modifier::CROSSED_OUT);
        assert!(struck == message || first.symbol() == " " && struck, "{x}");
        assert!(!struck || x < 30 || message || first.symbol() == " ", "{x}");
    }
    assert!(!buffer.cell((20, 1)).unwrap().modifier.contains(Modifier::CROSSED_OUT), "behind the text");
    assert_eq!(
        buffer.cell((2, 1)).unwrap().fg,
        Color::Reset,
        "a cell loses its colour on a ground without exact colours"
    );
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
fn the_areas_of_titles_and_rows_are_returned() {
    let (_, hits) = drawn(&[row("a"), row("b")], 46, 5);
    assert_eq!((hits.body, hits.first, hits.total), (Rect::new(0, 1, 46, 4), 0, 2));
    let titles: Vec<(u16, usize)> = hits.header.iter().map(|(title, column)| (title.x, *column)).collect();
    assert_eq!(titles, [(2, 0), (3, 1), (30, 2), (42, 3)]);
}

#[test]
fn the_scrollbar_is_at_an_end_only_when_the_window_is() {
    let area = Rect::new(0, 0, 20, 11);
    let cases = [
        ("top", 0, 100, "█........."),
        ("just below", 1, 100, ".█........"),
        ("just above the bottom", 89, 100, "........█."),
        ("bottom", 90, 100, ".........█"),
        ("half in sight", 5, 20, "..█████..."),
        ("one row too many", 1, 11, ".█████████"),
        ("a hundred thousand", 50_000, 100_000, "....█....."),
        ("all in sight", 0, 10, ".........."),
    ];
    for (case, first, total, expected) in cases {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 21, 11));
        let columns = columns();
        let view = TableView { first, border: Some(20), ..view(&columns, total) };
        draw(&view, std::iter::empty::<&Row>(), area, &mut buffer);
        let cell = |y: u16| if buffer.cell((20, y)).unwrap().symbol() == " " { "." } else { "█" };
        assert_eq!((1..11).map(cell).collect::<String>(), expected, "case: {case}");
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
