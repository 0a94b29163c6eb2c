//! Where the user is, and where they have been.

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenId {
    Fleet,
    /// A check, by its place in the list of checks.
    Check(usize),
    Plan,
    Activity,
    Object,
    Logs,
}

/// The part of a screen that has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    List,
    Detail,
}

/// The screens looked at, like the pages of a browser.
#[derive(Debug, Clone)]
pub struct NavigationHistory {
    places: Vec<ScreenId>,
    here: usize,
}

/// Nobody goes back further than this.
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

    /// The screens on the way here, the one here first.
    pub fn way_back(&self) -> impl Iterator<Item = &ScreenId> {
        self.places[..=self.here].iter().rev()
    }

    /// Goes to a screen. What lay ahead is forgotten.
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

    /// Goes back; says whether there was somewhere to go.
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
    fn back_and_forward_retrace_the_way_until_another_one_is_taken() {
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
    fn the_way_is_forgotten_from_its_far_end() {
        let mut trail = NavigationHistory::default();
        for _ in 0..LENGTH_MAX {
            trail.go(ScreenId::Plan);
            trail.go(ScreenId::Activity);
        }
        assert_eq!(trail.places.len(), LENGTH_MAX);
        assert_eq!(trail.here(), ScreenId::Activity);
    }
}
