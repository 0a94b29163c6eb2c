//! Screens, and the history of visited screens.

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
    places: Vec<ScreenId>,
    here: usize,
}

/// Limit of the history.
const LENGTH_MAX: usize = 50;

impl Default for NavigationHistory {
    fn default() -> Self {
        Self { places: vec![ScreenId::Fleet], here: 0 }
    }
}

impl NavigationHistory {
    pub fn here(&self) -> ScreenId {
        self.places[self.here]
    }

    /// The visited screens, the current one first.
    pub fn way_back(&self) -> impl Iterator<Item = &ScreenId> {
        self.places[..=self.here].iter().rev()
    }

    /// Goes to a screen and drops the forward history.
    pub fn go(&mut self, place: ScreenId) {
        if place == self.here() {
            return;
        }
        self.places.truncate(self.here + 1);
        self.places.push(place);
        if self.places.len() > LENGTH_MAX {
            self.places.remove(0);
        }
        self.here = self.places.len() - 1;
    }

    /// Goes back; returns whether there was a previous screen.
    pub fn back(&mut self) -> bool {
        let earlier = self.here.checked_sub(1);
        earlier.inspect(|here| self.here = *here).is_some()
    }

    pub fn forward(&mut self) -> bool {
        let later = (self.here + 1 < self.places.len()).then_some(self.here + 1);
        later.inspect(|here| self.here = *here).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_and_forward_follow_the_history_until_a_new_screen_is_opened() {
        let mut trail = NavigationHistory::default();
        trail.go(ScreenId::Check(0));
        trail.go(ScreenId::Plan);
        assert!(trail.back());
        assert_eq!(trail.here(), ScreenId::Check(0));
        assert!(trail.forward());
        assert_eq!(trail.here(), ScreenId::Plan);
        assert!(trail.back() && trail.back() && !trail.back());
        trail.go(ScreenId::Activity);
        assert!(!trail.forward());
        assert_eq!(trail.here(), ScreenId::Activity);
    }

    #[test]
    fn the_oldest_screens_are_dropped() {
        let mut trail = NavigationHistory::default();
        for _ in 0..LENGTH_MAX {
            trail.go(ScreenId::Plan);
            trail.go(ScreenId::Activity);
        }
        assert_eq!(trail.places.len(), LENGTH_MAX);
        assert_eq!(trail.here(), ScreenId::Activity);
    }
}
