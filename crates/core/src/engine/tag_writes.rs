//! Resources of a cloud whose tags this machine changed a moment ago, read from the journal.
//!
//! Invariants: a request counts from its intent on, whatever became of it; a clock that was set back makes a request
//! count for longer, never for less.
//! Elsewhere: asking the tagging service in place of the search index (`fleet::clouds`).

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::action::Verb;
use super::journal::Entry;

/// How long after a change of tags from here a search index does not count for that resource. IBM documents seconds of
/// lag, users report half a minute; ten minutes is twenty times that.
pub const TAG_WRITES_TIME: SignedDuration = SignedDuration::from_mins(10);

/// The CRNs of resources that a request of the last [`TAG_WRITES_TIME`] tagged or untagged.
pub fn recent_tag_writes(entries: &[Entry], now: Timestamp) -> BTreeSet<String> {
    let sent = entries.iter().flat_map(|entry| &entry.actions).filter_map(|action| action.sent.as_ref());
    let recent = sent.filter(|sent| is_of_tags(sent.verb) && now.duration_since(sent.at) < TAG_WRITES_TIME);
    recent.filter_map(|sent| sent.target.cloud.as_ref()?.crn.clone()).collect()
}

fn is_of_tags(verb: Verb) -> bool {
    match verb {
        Verb::Tag | Verb::Untag | Verb::ReOwn => true,
        Verb::Delete | Verb::Label | Verb::Annotate | Verb::Create | Verb::Update | Verb::Apply | Verb::Patch => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::journal::{Record, entries};
    use crate::engine::{CloudRef, ObjectRef, testing};

    fn intent(verb: Verb, crn: &str, at: Timestamp) -> Record {
        let cloud = CloudRef {
            cloud: "ibm".to_owned(),
            account: "acc".to_owned(),
            kind: "vpc".to_owned(),
            id: crn.to_owned(),
            crn: Some(crn.to_owned()),
            name: None,
        };
        testing::intent(crn, "a1", verb, ObjectRef::from(cloud), at)
    }

    #[test]
    fn a_change_of_tags_counts_for_ten_minutes_from_its_intent() {
        let now: Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
        let ago = |seconds: i64| now - SignedDuration::from_secs(seconds);
        let records = [
            intent(Verb::Tag, "tagged", ago(599)),
            intent(Verb::Untag, "untagged", ago(1)),
            intent(Verb::ReOwn, "re-owned", ago(0)),
            intent(Verb::Tag, "long ago", ago(600)),
            intent(Verb::Delete, "deleted", ago(1)),
            intent(Verb::Tag, "the clock was set back", ago(-3600)),
        ];
        let found: Vec<String> = recent_tag_writes(&entries(records.iter()), now).into_iter().collect();
        assert_eq!(found, ["re-owned", "tagged", "the clock was set back", "untagged"]);
    }
}
