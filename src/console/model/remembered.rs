//! Settings restored when the console is opened on the same fleet.
//!
//! Invariants: settings that no longer apply (a disabled check, a removed column) are ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CheckColumn, Matches, Model, ScreenId};
use crate::console::layout;
use crate::console::table::Direction;

/// A named screen with a filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedView {
    pub name: String,
    /// A name for [`Model::screen_named`].
    pub screen: String,
    pub filter: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    pub screen: String,
    pub fleet_filter: String,
    pub checks: BTreeMap<String, RememberedCheck>,
    pub split: u16,
    /// The chosen theme, when it differs from the configured one.
    pub theme: Option<String>,
    /// Views saved from the console.
    #[serde(default)]
    pub views: Vec<SavedView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedCheck {
    pub filter: String,
    pub sort: usize,
    pub descending: bool,
    /// Whether rows that match are shown.
    #[serde(default)]
    pub matches: bool,
}

const FLEET: &str = "fleet";
const ACTIVITY: &str = "activity";

impl Model {
    /// Returns the screen of this name: `fleet`, `activity`, or a check's name.
    pub fn screen_named(&self, name: &str) -> Option<ScreenId> {
        match name {
            FLEET => Some(ScreenId::Fleet),
            ACTIVITY => Some(ScreenId::Activity),
            name => self.checks.iter().position(|check| check.name.0 == name).map(ScreenId::Check),
        }
    }

    /// Returns the settings to store.
    pub fn remembered(&self) -> Remembered {
        let check = |place: &ScreenId| match place {
            ScreenId::Check(place) => self.checks.get(*place).map(|check| check.name.0),
            ScreenId::Fleet => Some(FLEET),
            ScreenId::Activity => Some(ACTIVITY),
            ScreenId::Plan | ScreenId::Object | ScreenId::Logs | ScreenId::Expiry | ScreenId::Timeline => None,
        };
        let screen = self.navigation.visited().find_map(check).unwrap_or(FLEET);
        let checks = self.checks.iter().map(|check| {
            let (filter, sort) = (check.filter_text.clone(), check.sort.number());
            let descending = check.order.direction() == Direction::Descending;
            let matches = check.matches == Matches::Shown;
            (check.name.0.to_owned(), RememberedCheck { filter, sort, descending, matches })
        });
        Remembered {
            screen: screen.to_owned(),
            fleet_filter: self.fleet.filter_text.clone(),
            checks: checks.collect(),
            split: self.split,
            theme: (self.theme != self.theme_set).then(|| self.theme.clone()),
            views: self.saved_views.clone(),
        }
    }

    /// Restores stored settings.
    pub fn recall(&mut self, remembered: Remembered) {
        let Remembered { screen, fleet_filter, checks, split, theme, views } = remembered;
        // A view of the config takes precedence.
        let is_new = |view: &SavedView| self.views.iter().all(|known| known.name != view.name);
        self.saved_views = views.into_iter().filter(is_new).collect();
        self.split = layout::moved(split, 0);
        let now = self.now;
        self.fleet.filter_by(&fleet_filter, now);
        let Self { checks: sheets, findings, fleet, .. } = self;
        for sheet in sheets {
            let Some(known) = checks.get(sheet.name.0) else { continue };
            let direction = if known.descending { Direction::Descending } else { Direction::Ascending };
            sheet.sort_by(CheckColumn::numbered(known.sort), direction, (findings, fleet), now);
            let matches = if known.matches { Matches::Shown } else { Matches::Hidden };
            sheet.show_matches(matches, |id| fleet.class_of(&id.cluster), now);
            sheet.filter_by(&known.filter, |id| fleet.class_of(&id.cluster), now);
        }
        if let Some(theme) = theme.filter(|theme| self.themes.contains(theme)) {
            self.theme = theme;
        }
        if let Some(place) = self.screen_named(&screen) {
            self.navigation.go(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use ratatui::layout::Rect;

    use super::*;
    use crate::console::model::{CheckSheet, Zone};
    use trueup_checks::CheckDescription;
    use trueup_core::engine::CheckName;

    fn model() -> Model {
        let mut model = Model::new(Timestamp::UNIX_EPOCH, Rect::new(0, 0, 120, 40), Zone::Utc);
        for name in ["one", "two"] {
            model.checks.push(CheckSheet::new(CheckName(name), CheckDescription::named(name)));
        }
        model.themes = vec!["night".to_owned(), "terminal".to_owned()];
        (model.theme, model.theme_set) = ("terminal".to_owned(), "terminal".to_owned());
        model
    }

    #[test]
    fn settings_are_restored() {
        let mut before = model();
        before.navigation.go(ScreenId::Check(1));
        before.navigation.go(ScreenId::Plan);
        before.split = 40;
        before.theme = "night".to_owned();
        before.fleet.filter_by("eu", Timestamp::UNIX_EPOCH);
        before.saved_views =
            vec![SavedView { name: "mine".to_owned(), screen: "two".to_owned(), filter: "eks".to_owned() }];
        let Model { checks, findings, fleet, .. } = &mut before;
        checks[1].sort_by(CheckColumn::Cluster, Direction::Descending, (findings, fleet), Timestamp::UNIX_EPOCH);
        checks[1].filter_by("state:extra", |_| trueup_core::world::RiskClass::Prod, Timestamp::UNIX_EPOCH);
        checks[0].matches = Matches::Shown;
        let remembered = before.remembered();
        assert_eq!(remembered.screen, "two", "a plan is not restored: the screen before it is");
        let text = serde_json::to_string(&remembered).unwrap();
        let mut after = model();
        after.recall(serde_json::from_str(&text).unwrap());
        assert_eq!(after.screen(), ScreenId::Check(1));
        assert_eq!(after.remembered(), remembered);
    }

    #[test]
    fn settings_that_no_longer_apply_are_ignored() {
        let mut remembered = model().remembered();
        remembered.screen = "a check that is off".to_owned();
        remembered.theme = Some("a theme that is gone".to_owned());
        remembered.split = 9_000;
        let mut after = model();
        after.recall(remembered);
        assert_eq!((after.screen(), after.theme.as_str()), (ScreenId::Fleet, "terminal"));
        assert!(after.split < 100, "{}", after.split);
    }
}
