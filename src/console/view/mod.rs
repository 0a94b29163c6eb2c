//! Draws the screen from the model.
//!
//! Invariants:
//! - only rows in the window are built;
//! - text from clusters is escaped where it is drawn ([`paint`]);
//! - a state is shown by glyph and word; colour repeats them.

mod activity;
mod approval;
mod check;
mod check_cells;
mod check_columns;
mod confirm;
mod detail;
mod evidence;
mod expiry;
mod fields;
mod finder;
mod fleet;
mod fleet_detail;
mod fleet_table;
mod frame;
mod header;
mod help;
mod hints;
mod journal;
mod legend;
mod namesakes;
mod news;
mod object;
mod paint;
mod panels;
mod picker;
mod plan;
mod plugin;
mod references;
mod rows;
mod states;
mod text;
mod timeline;
mod wall;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use approval::fits as approval_fits;
pub use fleet_table::last as table_last;
pub use help::last as help_last;

use super::hits::{Hit, HitMap};
use super::layout::{DIALOG_MIN, HEIGHT_MIN, Layout, WIDTH_MIN, fits_dialog};
use super::model::{CheckColumn, FinderPlace, FoundText, Layer, Model, ScreenId, Standing};
use super::table;
use super::terminal::Cursor;
use super::theme::{GlyphSet, Glyphs, Role, Theme};
use paint::Painter;
use text::Line;
use trueup_core::engine::text::Printable;

/// Theme and glyphs.
#[derive(Debug, Clone)]
pub struct Appearance {
    pub theme: Theme,
    pub signs: GlyphSet,
}

/// Result of drawing.
#[derive(Debug)]
pub struct Drawn {
    pub hits: HitMap,
    pub cursor: Cursor,
    /// When a label on the screen changes next.
    pub changes_at: Option<Timestamp>,
}

impl Appearance {
    fn glyphs(&self) -> &'static Glyphs {
        Glyphs::of(self.signs)
    }

    fn table_glyphs(&self) -> &'static table::Glyphs {
        table_glyphs(self.signs)
    }
}

/// The glyphs of lists.
fn table_glyphs(signs: GlyphSet) -> &'static table::Glyphs {
    match signs {
        GlyphSet::Unicode => &table::Glyphs::UNICODE,
        GlyphSet::Plain => &table::Glyphs::ASCII,
    }
}

/// Draws the whole screen.
pub fn view(model: &Model, appearance: &Appearance, area: Rect, buffer: &mut Buffer) -> Drawn {
    let mut painter = Painter::new(appearance, buffer);
    painter.fill(area, Role::Text);
    let layout = match (model.layout(), &model.standing) {
        (None, _) => {
            states::too_small(area, (WIDTH_MIN, HEIGHT_MIN), &mut painter);
            return painter.done();
        }
        (Some(layout), Standing::Starting) => {
            states::skeleton(&layout, &mut painter);
            return painter.done();
        }
        (Some(layout), Standing::Failed(why)) => {
            states::failed(model, why, &layout, &mut painter);
            return painter.done();
        }
        (Some(layout), Standing::Running(_)) => layout,
    };
    if layout.header.height > 0 {
        header::draw(model, layout.header, &mut painter);
        match model.timeline.past_moment() {
            Some(moment) => timeline::past(model, moment, layout.tabs, &mut painter),
            None => frame::tabs(model, layout.tabs, &mut painter),
        }
    }
    body(model, &layout, &mut painter);
    hints::draw(model, layout.hints, &mut painter);
    over(model, area, &layout, &mut painter);
    painter.done()
}

fn body(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    match model.screen() {
        ScreenId::Fleet => fleet::draw(model, layout, painter),
        ScreenId::Check(place) => {
            if let Some(check) = model.checks.get(place) {
                check::draw(model, check, layout, painter);
            }
        }
        ScreenId::Plan => {
            if let Some(plan) = &model.plan {
                plan::draw(model, plan, layout, painter);
            }
        }
        ScreenId::Activity => activity::draw(model, layout, painter),
        ScreenId::Object => object::draw(model, layout.main, painter),
        ScreenId::Logs => object::draw_log(model, layout.main, painter),
        ScreenId::Expiry => expiry::draw(model, layout.main, painter),
        ScreenId::Timeline => timeline::draw(model, layout, painter),
    }
}

/// Draws layers, lowest first.
fn over(model: &Model, area: Rect, layout: &Layout, painter: &mut Painter<'_>) {
    frame::toasts(model, layout, painter);
    if !model.follow.is_empty() {
        frame::which_key(model, layout, painter);
    }
    if model.layer.as_ref().is_some_and(|layer| !matches!(layer, Layer::Prompt(_))) {
        painter.dim_all();
    }
    if matches!(model.layer, Some(Layer::Approval(_) | Layer::Plugin(_))) && !fits_dialog(area) {
        painter.clear(area);
        states::too_small(area, DIALOG_MIN, painter);
        return;
    }
    match &model.layer {
        Some(Layer::Help { scroll }) => help::draw(model, *scroll, area, painter),
        Some(Layer::Table { table, scroll, .. }) => fleet_table::draw(model, table.as_ref(), *scroll, area, painter),
        Some(Layer::Palette(picker) | Layer::Picker(picker)) => picker::draw(model, picker, area, painter),
        Some(Layer::Prompt(prompt)) => picker::draw_prompt(model, prompt, layout, painter),
        Some(Layer::Approval(approval)) => approval::draw(model, approval, area, painter),
        Some(Layer::Plugin(dialog)) => plugin::draw(model, dialog, area, painter),
        Some(Layer::Wall) => wall::draw(model, area, painter),
        Some(Layer::Confirm(confirm)) => confirm::draw(model, *confirm, area, painter),
        None => {}
    }
    finder::draw(model, layout.hints, found(model).len(), painter);
}

/// The matches of the search, where it is.
pub fn found(model: &Model) -> Vec<FoundText> {
    let (Some(finder), Some(layout)) = (&model.finder, model.layout()) else { return Vec::new() };
    let lines = match finder.place {
        FinderPlace::Help => help::text(model),
        FinderPlace::Screen => text_lines(model, &layout),
    };
    finder.matches(lines.iter().map(Line::plain))
}

/// The line of the reference under the cursor, on the object screen.
pub fn reference_line(model: &Model) -> Option<usize> {
    let layout = model.layout()?;
    references::line_of_cursor(model, usize::from(layout.main.width.saturating_sub(2)))
}

/// The columns of the check on the screen that there is space for.
pub fn check_columns_shown(model: &Model) -> Vec<CheckColumn> {
    match (model.check(), model.layout()) {
        (Some(check), Some(layout)) => check_columns::CheckColumns::of_pane(check, layout.main).shown().collect(),
        (Some(_) | None, _) => Vec::new(),
    }
}

/// Number of text lines on the screen, for scrolling.
pub fn text_length(model: &Model) -> usize {
    let Some(layout) = model.layout() else { return 0 };
    if model.screen() == ScreenId::Fleet {
        return model.feed.lines().count();
    }
    text_lines(model, &layout).len()
}

/// The text of the screen, for copying and paging.
pub fn text_of(model: &Model) -> Printable {
    let Some(layout) = model.layout() else { return Printable::default() };
    // A line break inside a line would forge a line.
    let plain = |line: &Line| String::from(Printable::line(&line.plain()).ended());
    Printable::lines(&text_lines(model, &layout).iter().map(plain).collect::<String>())
}

fn text_lines(model: &Model, layout: &Layout) -> Vec<Line> {
    let width = usize::from(layout.detail.unwrap_or(layout.main).width.saturating_sub(2));
    let glyphs = Glyphs::of(model.signs);
    match model.screen() {
        ScreenId::Check(_) => detail::lines(model, width, glyphs),
        ScreenId::Plan => model.plan.as_ref().map(|plan| plan::lines(model, plan, width, glyphs)).unwrap_or_default(),
        ScreenId::Object => object::lines(model, width),
        ScreenId::Logs => object::log_lines(model, width),
        ScreenId::Fleet | ScreenId::Activity | ScreenId::Expiry | ScreenId::Timeline => Vec::new(),
    }
}

impl Painter<'_> {
    /// Registers an area for the mouse.
    fn hit(&mut self, area: Rect, hit: Hit) {
        self.hits.add(area, hit);
    }
}
