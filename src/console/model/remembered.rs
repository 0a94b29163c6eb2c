//! What the console knows again when it is opened on the same fleet.
//!
//! Always true: what does not fit (a check that is off, a column that is gone) is left out in silence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Model, Place};
use crate::console::layout;
use crate::console::table::Direction;

/// A screen with a filter, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    pub name: String,
    /// As [`Model::place_named`] knows it.
    pub screen: String,
    pub filter: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    pub screen: String,
    pub fleet_filter: String,
    pub checks: BTreeMap<String, RememberedCheck>,
    pub split: u16,
    /// The theme that was picked, when it is another than the one that is set.
    pub theme: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedCheck {
    pub filter: String,
    pub sort: usize,
    pub descending: bool,
}

const FLEET: &str = "fleet";
const ACTIVITY: &str = "activity";

impl Model {
    /// The screen of this name: `fleet`, `activity`, or a check's name.
    pub fn place_named(&self, name: &str) -> Option<Place> {
        match name {
            FLEET => Some(Place::Fleet),
            ACTIVITY => Some(Place::Activity),
            name => self.checks.iter().position(|check| check.name.0 == name).map(Place::Check),
        }
    }

    /// What to keep for the next time.
    pub fn remembered(&self) -> Remembered {
        let check = |place: &Place| match place {
            Place::Check(place) => self.checks.get(*place).map(|check| check.name.0),
            Place::Fleet => Some(FLEET),
            Place::Activity => Some(ACTIVITY),
            Place::Plan | Place::Object | Place::Logs => None,
        };
        let screen = self.trail.way_back().find_map(check).unwrap_or(FLEET);
        let checks = self.checks.iter().map(|check| {
            let (filter, sort) = (check.filter_text.clone(), check.sort);
            let descending = check.order.direction() == Direction::Descending;
            (check.name.0.to_owned(), RememberedCheck { filter, sort, descending })
        });
        Remembered {
            screen: screen.to_owned(),
            fleet_filter: self.fleet.filter_text.clone(),
            checks: checks.collect(),
            split: self.split,
            theme: (self.theme != self.theme_set).then(|| self.theme.clone()),
        }
    }

    /// Takes up where it was left.
    pub fn recall(&mut self, remembered: Remembered) {
        let Remembered { screen, fleet_filter, checks, split, theme } = remembered;
        self.split = layout::moved(split, 0);
        self.fleet.filter_by(&fleet_filter);
        let now = self.now;
        let Self { checks: sheets, findings, fleet, .. } = self;
        for sheet in sheets {
            let Some(known) = checks.get(sheet.name.0) else { continue };
            let direction = if known.descending { Direction::Descending } else { Direction::Ascending };
            sheet.sort_by(known.sort, direction, findings);
            sheet.filter_by(&known.filter, findings, |id| fleet.class_of(&id.cluster), now);
        }
        if let Some(theme) = theme.filter(|theme| self.themes.contains(theme)) {
            self.theme = theme;
        }
        if let Some(place) = self.place_named(&screen) {
            self.trail.go(place);
        }
    }
}
