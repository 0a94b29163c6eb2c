//! What clusters serve, held once for all that serve the same.

use std::collections::VecDeque;

use trueup_core::world::{Kinds, Served};

/// Different answers that are remembered: one for each release of the clusters of a fleet, and a few with other operators.
const REMEMBERED_MAX: usize = 32;

/// The last different answers, the most recent first.
#[derive(Default)]
pub(super) struct SharedKinds(VecDeque<Kinds>);

impl SharedKinds {
    /// Has an answer share the kinds of an earlier one.
    pub fn share(&mut self, served: &mut Served) {
        let Served::Complete(kinds) = served else { return };
        if let Some(at) = self.0.iter().position(|held| kinds.share(held)) {
            self.0.swap(0, at);
            return;
        }
        self.0.push_front(kinds.clone());
        self.0.truncate(REMEMBERED_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::{Gap, GapCause};

    fn serving(group: &str) -> Served {
        Served::Complete([(group.to_owned(), "things".to_owned())].into_iter().collect())
    }

    #[test]
    fn equal_answers_are_held_once_and_only_the_last_different_ones_are_remembered() {
        let mut shared = SharedKinds::default();
        for group in ["a", "b", "a", "b"] {
            shared.share(&mut serving(group));
        }
        shared.share(&mut Served::Unknown(Gap::new(GapCause::Discovery, "not answered")));
        assert_eq!(shared.0.len(), 2);
        for number in 0..2 * REMEMBERED_MAX {
            shared.share(&mut serving(&number.to_string()));
        }
        assert_eq!(shared.0.len(), REMEMBERED_MAX);
    }
}
