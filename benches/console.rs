//! Cost of the console's lists: a frame, a change, a keystroke in the filter.
//!
//! `cargo bench --bench console [-- ROWS]`: 100,000 rows, and the filter over 10,000 as well. Medians and the 99th
//! percentile of many runs on one thread.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use support::now;
use trueup::console::filter::{Fields, Filter, Scratch};
use trueup::console::table::{
    Cell, Column, Direction, Glyphs, ListState, Membership, Order, RowStyle, TableRow, TableStyle, TableView, age, draw,
};
use trueup_core::engine::State;

const SCREEN: Rect = Rect { x: 0, y: 0, width: 200, height: 60 };

/// Filters, typed letter by letter.
const FILTERS: [&str; 4] = ["client", "state:extra", "name~client age>5m", "secret guest 77"];

struct Row {
    state: State,
    kind: &'static str,
    name: String,
    cluster: Arc<str>,
    verdict: &'static str,
    since: Timestamp,
}

type Rows = Order<(Arc<str>, u32), u32>;

fn main() {
    let count = support::argument().unwrap_or(100_000);
    let rows = rows(count);
    let mut order = Rows::default();
    let start = Instant::now();
    order.rebuild(rows.iter().zip(0..).map(|(row, id)| (id, key(row, id), Membership::Shown)));
    println!("{count} rows sorted in {}", millis(start.elapsed()));
    frames(&rows, &order);
    upserts(&rows, &mut order);
    keystrokes(&rows, &mut order);
    keystrokes(&rows[..10_000.min(count)], &mut small_order(&rows[..10_000.min(count)]));
}

fn rows(count: usize) -> Vec<Row> {
    let clusters: Vec<Arc<str>> = (0..100).map(|guest| format!("guest-{guest:02}").into()).collect();
    let row = |index: usize| Row {
        state: State::ALL[index % State::ALL.len()],
        kind: if index.is_multiple_of(3) { "ConfigMap" } else { "Secret" },
        name: format!("ext-auth-client-{:06}-{}", index * 7919 % 1_000_003, index % 13),
        cluster: clusters[index % clusters.len()].clone(),
        verdict: ["orphan-certain", "in-use", "pending", "unknown"][index % 4],
        since: now() - SignedDuration::from_secs((index % 100_000) as i64),
    };
    (0..count).map(row).collect()
}

fn key(row: &Row, id: u32) -> (Arc<str>, u32) {
    (row.cluster.clone(), id.wrapping_mul(2_654_435_761))
}

fn small_order(rows: &[Row]) -> Rows {
    let mut order = Rows::default();
    order.rebuild(rows.iter().zip(0..).map(|(row, id)| (id, key(row, id), Membership::Shown)));
    order
}

struct Drawn<'a> {
    row: &'a Row,
    style: RowStyle,
}

impl TableRow for Drawn<'_> {
    fn style(&self) -> RowStyle {
        self.style
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let Row { state, kind, name, cluster, verdict, since } = self.row;
        match column {
            0 => Cell::text(state.glyph().to_string(), Style::new().fg(Color::Red)),
            1 => Cell::text(*kind, Style::new()),
            2 => Cell::name("openshift-config", Style::new()),
            3 => Cell::name(name, Style::new()),
            4 => Cell::name(&**cluster, Style::new()),
            5 => Cell::text(*verdict, Style::new().fg(Color::Yellow)),
            _ => Cell::text(age(*since, now()), Style::new()),
        }
    }
}

fn frames(rows: &[Row], order: &Rows) {
    let columns = [
        Column::new("", 1),
        Column::new("KIND", 10).gap(0),
        Column::new("NAMESPACE", 16).weight(1),
        Column::new("NAME", 20).weight(4),
        Column::new("CLUSTER", 12).weight(1),
        Column::new("VERDICT", 14).weight(1),
        Column::new("AGE", 4).right(),
    ];
    let style = TableStyle {
        header: Style::new().add_modifier(Modifier::BOLD),
        cursor: Style::new().add_modifier(Modifier::REVERSED),
        mark: Style::new(),
        doomed: Style::new().add_modifier(Modifier::CROSSED_OUT),
        dimmed: Style::new().add_modifier(Modifier::DIM),
        scrollbar: Style::new(),
        glyphs: Glyphs::UNICODE,
    };
    let mut list = ListState::default();
    let (mut before, mut after) = (Buffer::empty(SCREEN), Buffer::empty(SCREEN));
    let area = Rect { width: SCREEN.width - 1, ..SCREEN };
    let mut cells = 0;
    for (what, step) in [("the cursor moves", 1), ("every row changes", 60)] {
        let spent = many(|| {
            list.apply(order, TableView::lines(area));
            list.step(order, step);
            after.reset();
            let view = TableView {
                columns: &columns,
                sort: Some((4, Direction::Ascending)),
                style: &style,
                first: list.window().start,
                total: order.shown(),
                border: Some(SCREEN.width - 1),
            };
            let drawn = |id: &u32| Drawn {
                row: &rows[*id as usize],
                style: RowStyle {
                    cursor: list.cursor() == Some(id),
                    marked: list.is_marked(id),
                    ..RowStyle::default()
                },
            };
            draw(&view, order.window(list.window()).map(drawn), area, &mut after);
            cells += before.diff_iter(&after).count();
            std::mem::swap(&mut before, &mut after);
        });
        println!("a frame of 200×60, reset, drawn and diffed, {what}: {spent}");
    }
    assert!(cells > 0, "something was drawn");
}

fn upserts(rows: &[Row], order: &mut Rows) {
    let count = u32::try_from(rows.len()).expect("rows fit");
    let mut turn: u32 = 0;
    let same = many(|| {
        turn = (turn + 7919) % count;
        order.upsert(&turn, key(&rows[turn as usize], turn), Membership::Shown);
    });
    let other = many(|| {
        turn = (turn + 7919) % count;
        let (cluster, _) = key(&rows[(turn as usize * 31 + 17) % rows.len()], turn);
        order.upsert(&turn, (cluster, turn), Membership::Shown);
    });
    println!("an update that keeps the row's place: {same}; that moves it anywhere: {other}");
}

fn keystrokes(rows: &[Row], order: &mut Rows) {
    let mut scratch = Scratch::default();
    for text in FILTERS {
        let typed: Vec<Filter> = (1..=text.len()).filter_map(|end| Filter::parse(&text[..end]).ok()).collect();
        let mut shown = 0;
        let mut turn = 0;
        let spent = many(|| {
            let filter = &typed[turn % typed.len()];
            turn += 1;
            order.refilter(|id| {
                let row = &rows[*id as usize];
                let fields = Fields {
                    state: Some(row.state),
                    also: &[],
                    domain: "hosted-oidc",
                    cluster: &row.cluster,
                    class: "prod",
                    verdict: row.verdict,
                    codes: &[],
                    kind: row.kind,
                    namespace: "openshift-config",
                    name: &row.name,
                    since: Some(row.since),
                };
                if filter.shows(&fields, now(), &mut scratch) { Membership::Shown } else { Membership::Hidden }
            });
            shown = order.shown();
        });
        println!("a keystroke of `{text}` over {} rows ({shown} shown last): {spent}", rows.len());
    }
}

/// Runs a closure repeatedly and renders the time of one run.
fn many(mut run: impl FnMut()) -> String {
    const FOR: Duration = Duration::from_millis(700);
    let (begun, mut spent) = (Instant::now(), Vec::new());
    while begun.elapsed() < FOR {
        let start = Instant::now();
        run();
        spent.push(start.elapsed());
    }
    spent.sort_unstable();
    let (median, late) = (spent[spent.len() / 2], spent[spent.len() * 99 / 100]);
    format!("median {}, p99 {}", millis(median), millis(late))
}

fn millis(span: Duration) -> String {
    format!("{:.4} ms", span.as_secs_f64() * 1000.0)
}
