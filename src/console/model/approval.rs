//! Approval on the screen: cluster by cluster, the list and the word.
//!
//! Always true:
//! - keys that were on their way when the question appeared answer nothing;
//! - the word counts only when the list has been on the screen to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::engine::{Answers, ClusterQuestion};

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
    pub wrong: Option<&'static str>,
    answers: BTreeMap<String, String>,
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

    /// Scrolls the list, and remembers how far it was seen when `lines` of it fit on the screen.
    pub fn scroll_by(&mut self, by: isize, lines: usize) {
        let last = self.question().actions.len().saturating_sub(lines);
        self.scroll = self.scroll.saturating_add_signed(by).min(last);
        self.see(lines);
    }

    /// Notes that so many lines from the scroll on are on the screen.
    pub fn see(&mut self, lines: usize) {
        self.seen = self.seen.max(self.scroll + lines);
    }

    pub fn seen_to_end(&self) -> bool {
        self.seen >= self.question().actions.len()
    }

    pub fn enter(&mut self, now: Timestamp) -> Entered {
        if !self.seen_to_end() {
            self.wrong = Some("the list goes on: scroll to its end first");
            return Entered::Stays;
        }
        if !self.question().accepts(&self.typed) {
            self.wrong = Some("that is not the word");
            return Entered::Stays;
        }
        let typed = std::mem::take(&mut self.typed);
        self.answers.insert(self.question().cluster.clone(), typed);
        if self.at + 1 == self.questions.len() {
            return Entered::Done(Answers::Typed(std::mem::take(&mut self.answers)));
        }
        self.at += 1;
        (self.opened, self.scroll, self.seen, self.wrong) = (now, 0, 0, None);
        Entered::Next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Asks, Tier};

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
        approval.see(4);
        approval.typed = "a".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.scroll_by(3, 4);
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.scroll_by(9, 4);
        let Entered::Done(Answers::Typed(answers)) = approval.enter(at(500)) else { panic!("{approval:?}") };
        assert_eq!(answers, [("a".to_owned(), "a".to_owned())].into());
    }

    #[test]
    fn each_cluster_has_its_own_word_and_its_own_guard() {
        let mut approval = Approval::new(vec![question("a", 1), question("b", 1)], at(0));
        approval.see(5);
        approval.typed = "b".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.typed = "a".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Next);
        assert!(!approval.listens(at(700)));
        assert!(!approval.seen_to_end());
    }
}
