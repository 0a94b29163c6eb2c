//! Screen areas that react to the mouse.

use ratatui::layout::{Position, Rect};

use super::keymap::Action;

/// Areas in drawing order: later ones are on top.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HitMap(Vec<(Rect, Hit)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    Tab(Tab),
    /// A key of the hint line.
    Hint(Action),
    /// A column header of the list.
    Column(usize),
    /// A row of the list, by its index among the shown rows.
    Row(usize),
    /// An item of the open layer.
    Item(usize),
    List,
    Detail,
    Divider,
    /// The open layer.
    Layer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Fleet,
    Check(usize),
    Plan,
    Activity,
}

impl HitMap {
    pub fn add(&mut self, area: Rect, hit: Hit) {
        self.0.push((area, hit));
    }

    /// Returns the topmost area at a position.
    pub fn at(&self, column: u16, row: u16) -> Option<Hit> {
        let here = Position { x: column, y: row };
        self.0.iter().rev().find(|(area, _)| area.contains(here)).map(|(_, hit)| *hit)
    }
}
