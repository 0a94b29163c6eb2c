//! What is where on the screen, for the mouse.

use ratatui::layout::{Position, Rect};

/// What was drawn last, in the order it was drawn: later things lie on top.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HitMap(Vec<(Rect, Hit)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    Tab(Tab),
    /// The head of a column of the list on the screen.
    Column(usize),
    /// A row of the list on the screen, by its place among the shown ones.
    Row(usize),
    /// An item of what lies over the screen.
    Item(usize),
    List,
    Detail,
    Divider,
    /// Something lies over the screen.
    Layer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Fleet,
    Check(usize),
    Plan,
    Activity,
    Help,
}

impl HitMap {
    pub fn add(&mut self, area: Rect, hit: Hit) {
        self.0.push((area, hit));
    }

    /// What lies on top at a place.
    pub fn at(&self, column: u16, row: u16) -> Option<Hit> {
        let here = Position { x: column, y: row };
        self.0.iter().rev().find(|(area, _)| area.contains(here)).map(|(_, hit)| *hit)
    }
}
