//! Where the user is, and where they have been.

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
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
pub struct Trail {
    places: Vec<Place>,
    here: usize,
}

/// Nobody goes back further than this.
const LENGTH_MAX: usize = 50;

impl Default for Trail {
    fn default() -> Self {
        Self { places: vec![Place::Fleet], here: 0 }
    }
}

impl Trail {
    pub fn here(&self) -> Place {
        self.places[self.here]
    }

    /// The screens on the way here, the one here first.
    pub fn way_back(&self) -> impl Iterator<Item = &Place> {
        self.places[..=self.here].iter().rev()
    }

    /// Goes to a screen. What lay ahead is forgotten.
    pub fn go(&mut self, place: Place) {
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
        let mut trail = Trail::default();
        trail.go(Place::Check(0));
        trail.go(Place::Plan);
        assert!(trail.back());
        assert_eq!(trail.here(), Place::Check(0));
        assert!(trail.forward());
        assert_eq!(trail.here(), Place::Plan);
        assert!(trail.back() && trail.back() && !trail.back());
        trail.go(Place::Activity);
        assert!(!trail.forward());
        assert_eq!(trail.here(), Place::Activity);
    }

    #[test]
    fn the_way_is_forgotten_from_its_far_end() {
        let mut trail = Trail::default();
        for _ in 0..LENGTH_MAX {
            trail.go(Place::Plan);
            trail.go(Place::Activity);
        }
        assert_eq!(trail.places.len(), LENGTH_MAX);
        assert_eq!(trail.here(), Place::Activity);
    }
}
