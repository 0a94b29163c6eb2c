//! Approval on the screen: cluster by cluster, the list and the word.
//!
//! Always true:
//! - keys that were on their way when the question appeared answer nothing;
//! - the word counts only when the list has been on the screen to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use trueup_core::engine::{Answers, Asks, ClusterQuestion};

/// How long after a question appears keys are dropped: they were meant for what was there before.
pub const GUARD: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub struct Approval {
    pub questions: Vec<ClusterQuestion>,
    /// The question that is asked now.
    pub at: usize,
    pub typed: String,
    opened: Timestamp,
    /// The first line of the list that is on the screen.
    pub scroll: usize,
    /// The furthest line that has been on the screen.
    seen: usize,
    /// How many lines there are, as of the last look.
    total: usize,
    pub wrong: Option<&'static str>,
    answers: BTreeMap<String, String>,
}

/// How much of a list is on the screen at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fits {
    pub lines: usize,
    pub total: usize,
}

/// What came of an enter.
#[derive(Debug, PartialEq, Eq)]
pub enum Entered {
    /// Not yet: why is in `wrong`.
    Stays,
    Next,
    Done(Answers),
}

impl Approval {
    pub fn new(questions: Vec<ClusterQuestion>, now: Timestamp) -> Self {
        Self {
            questions,
            at: 0,
            typed: String::new(),
            opened: now,
            scroll: 0,
            seen: 0,
            total: usize::MAX,
            wrong: None,
            answers: BTreeMap::new(),
        }
    }

    pub fn question(&self) -> &ClusterQuestion {
        &self.questions[self.at]
    }

    /// Whether keys count yet.
    pub fn listens(&self, now: Timestamp) -> bool {
        now.duration_since(self.opened) >= jiff::SignedDuration::try_from(GUARD).unwrap_or_default()
    }

    /// Scrolls the list, and remembers how far it was seen.
    pub fn scroll_by(&mut self, by: isize, fits: Fits) {
        let last = fits.total.saturating_sub(fits.lines);
        self.scroll = self.scroll.saturating_add_signed(by).min(last);
        self.see(fits);
    }

    /// Notes that so many lines from the scroll on are on the screen.
    pub fn see(&mut self, fits: Fits) {
        self.total = fits.total;
        self.seen = self.seen.max(self.scroll + fits.lines);
    }

    /// Starts the list over, on a screen of another size: what was seen there were other lines.
    pub fn see_anew(&mut self, fits: Fits) {
        (self.scroll, self.seen) = (0, 0);
        self.see(fits);
    }

    pub fn seen_to_end(&self) -> bool {
        self.seen >= self.total && self.total > 0
    }

    pub fn enter(&mut self, now: Timestamp) -> Entered {
        if !self.seen_to_end() {
            self.wrong = Some("the list goes on: scroll to its end first");
            return Entered::Stays;
        }
        if !self.question().accepts(&self.typed) {
            self.wrong = Some(match self.question().asks {
                Asks::Enter => "nothing has to be typed: backspace takes it away",
                Asks::Deletions(_) => "that is not the number",
                Asks::ClusterName(_) => "that is not the cluster's name",
                Asks::ClusterNameAndId { .. } => "that is not the cluster's name, a blank and the plan's 8 characters",
            });
            return Entered::Stays;
        }
        let typed = std::mem::take(&mut self.typed);
        self.answers.insert(self.question().cluster.clone(), typed);
        if self.at + 1 == self.questions.len() {
            return Entered::Done(Answers::Typed(std::mem::take(&mut self.answers)));
        }
        self.at += 1;
        (self.opened, self.scroll, self.seen, self.total, self.wrong) = (now, 0, 0, usize::MAX, None);
        Entered::Next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::{Provenance, Tier};

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + millis).unwrap()
    }

    fn question(cluster: &str, count: usize) -> ClusterQuestion {
        ClusterQuestion {
            cluster: cluster.to_owned(),
            tier: Tier::T3,
            deletions: count,
            actions: (0..count).map(|number| format!("a{number}")).collect(),
            asks: Asks::ClusterName(cluster.to_owned()),
            provenance: Provenance::Here,
        }
    }

    #[test]
    fn keys_on_their_way_when_it_opens_are_dropped() {
        let approval = Approval::new(vec![question("a", 1)], at(0));
        assert!(!approval.listens(at(0)));
        assert!(!approval.listens(at(299)));
        assert!(approval.listens(at(300)));
    }

    #[test]
    fn the_word_counts_only_once_the_list_was_seen_to_its_end() {
        let mut approval = Approval::new(vec![question("a", 10)], at(0));
        let fits = Fits { lines: 4, total: 10 };
        approval.see(fits);
        approval.typed = "a".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.scroll_by(3, fits);
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.scroll_by(9, fits);
        let Entered::Done(Answers::Typed(answers)) = approval.enter(at(500)) else { panic!("{approval:?}") };
        assert_eq!(answers, [("a".to_owned(), "a".to_owned())].into());
    }

    #[test]
    fn what_was_seen_on_another_screen_was_not_seen_on_this_one() {
        let mut approval = Approval::new(vec![question("a", 3)], at(0));
        approval.scroll_by(9, Fits { lines: 3, total: 3 });
        assert!(approval.seen_to_end());
        approval.see_anew(Fits { lines: 4, total: 9 });
        assert!(!approval.seen_to_end());
    }

    #[test]
    fn each_cluster_has_its_own_word_and_its_own_guard() {
        let mut approval = Approval::new(vec![question("a", 1), question("b", 1)], at(0));
        approval.see(Fits { lines: 1, total: 1 });
        approval.typed = "b".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.typed = "a".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Next);
        assert!(!approval.listens(at(700)));
        assert!(!approval.seen_to_end());
    }
}
