//! Screens, and the history of visited screens.

use crate::console::keymap::Scope;

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenId {
    Fleet,
    /// A check, by index.
    Check(usize),
    Plan,
    Activity,
    Object,
    Logs,
    /// The session's changes.
    Timeline,
    Expiry,
}

impl ScreenId {
    /// The index of the check that is shown.
    pub fn check(self) -> Option<usize> {
        match self {
            Self::Check(place) => Some(place),
            Self::Fleet | Self::Plan | Self::Activity | Self::Object | Self::Logs | Self::Timeline | Self::Expiry => {
                None
            }
        }
    }

    /// The scope of keys of the screen's list or text.
    pub fn scope(self) -> Scope {
        match self {
            Self::Fleet => Scope::Fleet,
            Self::Check(_) => Scope::List,
            Self::Plan => Scope::Plan,
            Self::Activity => Scope::Activity,
            Self::Object => Scope::Object,
            Self::Logs => Scope::Logs,
            Self::Timeline => Scope::Timeline,
            Self::Expiry => Scope::Expiry,
        }
    }
}

/// The pane of a screen that receives keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    List,
    Detail,
}

/// Visited screens, like a browser's history.
#[derive(Debug, Clone)]
pub struct NavigationHistory {
    screens: Vec<ScreenId>,
    here: usize,
}

/// Limit of the history.
const LENGTH_MAX: usize = 50;

impl Default for NavigationHistory {
    fn default() -> Self {
        Self { screens: vec![ScreenId::Fleet], here: 0 }
    }
}

impl NavigationHistory {
    pub fn here(&self) -> ScreenId {
        self.screens[self.here]
    }

    /// The visited screens, the current one first.
    pub fn visited(&self) -> impl Iterator<Item = &ScreenId> {
        self.screens[..=self.here].iter().rev()
    }

    /// Goes to a screen and drops the forward history.
    pub fn go(&mut self, screen: ScreenId) {
        if screen == self.here() {
            return;
        }
        self.screens.truncate(self.here + 1);
        self.screens.push(screen);
        if self.screens.len() > LENGTH_MAX {
            self.screens.remove(0);
        }
        self.here = self.screens.len() - 1;
    }

    /// Goes back; returns whether there was a previous screen.
    pub fn back(&mut self) -> bool {
        let earlier = self.here.checked_sub(1);
        earlier.inspect(|here| self.here = *here).is_some()
    }

    pub fn forward(&mut self) -> bool {
        let later = (self.here + 1 < self.screens.len()).then_some(self.here + 1);
        later.inspect(|here| self.here = *here).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_and_forward_follow_the_history_until_a_new_screen_is_opened() {
        let mut history = NavigationHistory::default();
        history.go(ScreenId::Check(0));
        history.go(ScreenId::Plan);
        assert!(history.back());
        assert_eq!(history.here(), ScreenId::Check(0));
        assert!(history.forward());
        assert_eq!(history.here(), ScreenId::Plan);
        assert!(history.back() && history.back() && !history.back());
        history.go(ScreenId::Activity);
        assert!(!history.forward());
        assert_eq!(history.here(), ScreenId::Activity);
    }

    #[test]
    fn the_oldest_screens_are_dropped() {
        let mut history = NavigationHistory::default();
        for _ in 0..LENGTH_MAX {
            history.go(ScreenId::Plan);
            history.go(ScreenId::Activity);
        }
        assert_eq!(history.screens.len(), LENGTH_MAX);
        assert_eq!(history.here(), ScreenId::Activity);
    }
}
