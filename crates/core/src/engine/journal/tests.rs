//! What the journal promises, on a disk that fills up, breaks, or forgets what was not synced.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::engine::{ObjectRef, Verb};
use crate::world::{ClockSkew, ClusterIdentity, TrustedNow};

/// A disk in memory, which a test can look at and spoil while a journal has it.
#[derive(Debug, Clone, Default)]
struct TestDisk(Arc<Mutex<Platter>>);

#[derive(Debug, Default)]
struct Platter {
    bytes: Vec<u8>,
    /// Up to here a power cut takes nothing away.
    synced: usize,
    syncs: usize,
    fault: Option<Fault>,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    /// So many more bytes fit.
    Full {
        free: usize,
    },
    ReadOnly,
    /// The bytes are taken and the sync fails.
    SyncFails,
}

impl TestDisk {
    fn holding(bytes: &[u8]) -> Self {
        let platter = Platter { bytes: bytes.to_vec(), synced: bytes.len(), ..Platter::default() };
        Self(Arc::new(Mutex::new(platter)))
    }

    fn with<T>(&self, look: impl FnOnce(&mut Platter) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    fn bytes(&self) -> Vec<u8> {
        self.with(|platter| platter.bytes.clone())
    }

    fn open(&self) -> Result<Opened, JournalError> {
        Journal::on_disk(Box::new(self.clone()))
    }
}

impl Disk for TestDisk {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.bytes())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with(|platter| match platter.fault {
            Some(Fault::Full { free }) if free < bytes.len() => {
                platter.bytes.extend(&bytes[..free]);
                Err(io::Error::from(io::ErrorKind::StorageFull))
            }
            Some(Fault::ReadOnly) => Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem)),
            Some(Fault::Full { .. } | Fault::SyncFails) | None => {
                platter.bytes.extend(bytes);
                Ok(())
            }
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.with(|platter| match platter.fault {
            Some(Fault::SyncFails) => Err(io::Error::other("input/output error")),
            Some(Fault::Full { .. } | Fault::ReadOnly) | None => {
                platter.synced = platter.bytes.len();
                platter.syncs += 1;
                Ok(())
            }
        })
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.with(|platter| platter.bytes.truncate(usize::try_from(length).unwrap()));
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with(|platter| match platter.fault {
            Some(Fault::Full { .. }) => Err(io::Error::from(io::ErrorKind::StorageFull)),
            Some(Fault::ReadOnly | Fault::SyncFails) => Err(io::Error::other("input/output error")),
            None => {
                (platter.bytes, platter.synced) = (bytes.to_vec(), bytes.len());
                Ok(())
            }
        })
    }
}

const PLAN: &str = "sha256:1a2b3c4d00000000000000000000000000000000000000000000000000000000";

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_794_800_000 + second).unwrap()
}

fn approved() -> Record {
    let identity = ClusterIdentity {
        kube_system_uid: "ks-1".to_owned(),
        ca_sha256: "ca-1".to_owned(),
        ..ClusterIdentity::default()
    };
    Record::PlanApproved {
        plan: PLAN.to_owned(),
        who: "anna".to_owned(),
        host: "laptop".to_owned(),
        how: ApprovalWay::Typed,
        at: at(0),
        clusters: vec![ApprovedCluster::new("guest-a", identity)],
        undoes: None,
    }
}

fn backup(action: &str) -> Record {
    let (plan, action) = (PLAN.to_owned(), action.to_owned());
    Record::Backup { plan, action, file: "00ff.age".to_owned(), digest: "sha256:00ff".to_owned() }
}

fn intent(action: &str, attempt: u32) -> Record {
    let target = ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: Some("openshift-config".to_owned()),
        name: format!("old-{action}"),
        uid: Some("u-1".to_owned()),
        cloud: None,
    };
    Record::Intent {
        plan: PLAN.to_owned(),
        action: action.to_owned(),
        attempt,
        cluster: "guest-a".to_owned(),
        target,
        uid: Some("u-1".to_owned()),
        resource_version: Some("812".to_owned()),
        verb: Verb::Delete,
        labels: None,
        annotations: None,
        fields: None,
        keys: Vec::new(),
        deadline: at(60),
        at: at(1),
    }
}

fn outcome(action: &str, what: Answer) -> Record {
    let (plan, action) = (PLAN.to_owned(), action.to_owned());
    Record::Outcome { plan, action, attempt: 1, http: Some(200), what, at: at(2) }
}

fn verified(action: &str, state: VerifiedState) -> Record {
    let (plan, action) = (PLAN.to_owned(), action.to_owned());
    Record::Verified { plan, action, state, why: String::new(), version: None, at: at(3) }
}

fn skipped(action: &str) -> Record {
    let Record::Intent { plan, action, cluster, target, verb, .. } = intent(action, 1) else { unreachable!() };
    Record::Skipped { plan, action, cluster, target, verb, why: "in use".to_owned(), at: at(3) }
}

fn resolved(action: &str, found: Found) -> Record {
    Record::Resolved { plan: PLAN.to_owned(), action: action.to_owned(), found, at: at(9) }
}

/// A whole run, one record of every kind.
fn a_run() -> Vec<Record> {
    vec![
        approved(),
        backup("a1"),
        intent("a1", 1),
        outcome("a1", Answer::Done),
        verified("a1", VerifiedState::Gone),
        resolved("a2", Found::Unchanged),
        Record::Finished { plan: PLAN.to_owned(), at: at(5), counts: [("gone".to_owned(), 1)].into() },
    ]
}

/// The bytes of a journal with these records.
fn written(records: &[Record]) -> Vec<u8> {
    let disk = TestDisk::default();
    disk.open().unwrap().journal.append(records).unwrap();
    disk.bytes()
}

/// Where each record ends.
fn ends(records: &[Record]) -> Vec<usize> {
    (0..=records.len()).map(|count| written(&records[..count]).len()).collect()
}

#[test]
fn what_was_appended_is_read_again_in_order() {
    let disk = TestDisk::default();
    let mut journal = disk.open().unwrap().journal;
    let run = a_run();
    journal.append(&run[..3]).unwrap();
    journal.append(&[]).unwrap();
    journal.append(&run[3..]).unwrap();
    let again = disk.open().unwrap();
    assert_eq!((again.records, again.recovered), (run.clone(), None));
    assert_eq!(disk.bytes(), written(&run), "how records were grouped leaves no trace");
}

#[test]
fn a_group_of_records_is_one_sync() {
    let disk = TestDisk::default();
    let mut journal = disk.open().unwrap().journal;
    journal.append(&a_run()).unwrap();
    assert_eq!(disk.with(|platter| (platter.syncs, platter.synced)), (1, disk.bytes().len()));
}

#[test]
fn a_journal_cut_at_any_byte_opens_and_accepts_records() {
    let run = a_run();
    let (whole, ends) = (written(&run), ends(&run));
    for cut in 0..=whole.len() {
        let disk = TestDisk::holding(&whole[..cut]);
        let mut opened = disk.open().unwrap();
        let kept = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!(opened.records, run[..kept], "cut at {cut}");
        let torn = u64::try_from(cut - ends[kept]).unwrap();
        let expected = (torn > 0).then_some(TornTail { offset: u64::try_from(ends[kept]).unwrap(), bytes: torn });
        assert_eq!(opened.recovered, expected, "cut at {cut}");
        opened.journal.append(&run[kept..]).unwrap();
        assert_eq!(disk.bytes(), whole, "cut at {cut}");
    }
}

#[test]
fn a_tail_of_zeros_is_torn_and_not_damaged() {
    let run = a_run();
    let (whole, ends) = (written(&run), ends(&run));
    let last = ends[run.len() - 1];
    for cut in last..whole.len() {
        let mut bytes = whole[..cut].to_vec();
        bytes.resize(whole.len() + 4096, 0);
        let opened = TestDisk::holding(&bytes).open().unwrap();
        assert_eq!(opened.recovered.map(|tail| tail.offset), Some(u64::try_from(last).unwrap()), "cut at {cut}");
    }
}

#[test]
fn a_flipped_byte_is_found_where_it_is_and_nothing_is_cut_off() {
    let run = a_run();
    let (whole, ends) = (written(&run), ends(&run));
    for (place, flip) in (0..whole.len()).flat_map(|place| [1, 0x10, 0x80, 0xff].map(|flip| (place, flip))) {
        let mut bytes = whole.clone();
        bytes[place] ^= flip;
        let record = ends.iter().rposition(|end| *end <= place).unwrap();
        let start = u64::try_from(ends[record]).unwrap();
        let disk = TestDisk::holding(&bytes);
        let found = disk.open().map(|opened| opened.records.len());
        assert!(
            matches!(found, Err(JournalError::Damaged { offset, records, .. }) if offset == start && records == record),
            "byte {place} of record {record} flipped by {flip:#x}: {found:?}"
        );
        assert_eq!(disk.bytes(), bytes);
    }
}

proptest! {
    #[test]
    fn whatever_words_a_record_holds_they_are_read_again(whys in prop::collection::vec(any::<String>(), 1..6), groups in 1..4usize, cut in any::<prop::sample::Index>()) {
        let (plan, state) = (PLAN.to_owned(), VerifiedState::Skipped);
        let action = "a1".to_owned();
        let verified = |why| Record::Verified { plan: plan.clone(), action: action.clone(), state, why, version: None, at: at(3) };
        let records: Vec<Record> = whys.into_iter().map(verified).collect();
        let disk = TestDisk::default();
        for group in records.chunks(groups) {
            disk.open().unwrap().journal.append(group).unwrap();
        }
        prop_assert_eq!(disk.open().unwrap().records, &records[..]);
        let bytes = disk.bytes();
        let opened = TestDisk::holding(&bytes[..cut.index(bytes.len())]).open().unwrap();
        prop_assert!(opened.records.len() < records.len() && records.starts_with(&opened.records));
    }

    #[test]
    fn whatever_is_in_the_file_opening_it_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = TestDisk::holding(&bytes).open();
    }
}

#[test]
fn records_taken_out_swapped_or_brought_from_elsewhere_are_found() {
    let run = a_run();
    let (whole, ends) = (written(&run), ends(&run));
    let piece = |index: usize| &whole[ends[index]..ends[index + 1]];
    let foreign = written(&[backup("a9")]);
    let cases: [(&str, Vec<&[u8]>, usize); 5] = [
        ("the first is missing", vec![piece(1), piece(2)], 0),
        ("one is missing", vec![piece(0), piece(2)], ends[1]),
        ("two are swapped", vec![piece(0), piece(2), piece(1)], ends[1]),
        ("one stands there twice", vec![piece(0), piece(0)], ends[1]),
        ("one of another journal", vec![piece(0), &foreign], ends[1]),
    ];
    for (case, pieces, offset) in cases {
        let error = TestDisk::holding(&pieces.concat()).open().unwrap_err();
        let JournalError::Damaged { offset: found, damage, .. } = error else { panic!("{case}: {error}") };
        assert_eq!((found, damage), (u64::try_from(offset).unwrap(), Damage::Chain), "case: {case}");
    }
}

#[test]
fn a_record_of_a_newer_version_is_not_guessed_at() {
    let payload = br#"{"promised":{"plan":"p"}}"#;
    let genuine = written(&[approved()]);
    let before = &genuine[8..40];
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(before);
    hasher.update(payload);
    let length = u32::try_from(payload.len()).unwrap();
    let bytes = [&length.to_le_bytes()[..], &hasher.finalize().to_le_bytes(), before, payload].concat();
    let error = TestDisk::holding(&bytes).open().unwrap_err();
    assert!(matches!(error, JournalError::Damaged { offset: 0, records: 0, damage: Damage::Unknown }), "{error}");
}

#[test]
fn a_disk_that_fails_ends_writing_until_the_journal_is_opened_again() {
    let cases = [
        ("disk full", Fault::Full { free: 0 }),
        ("space for a part", Fault::Full { free: 100 }),
        ("read-only", Fault::ReadOnly),
        ("the sync fails", Fault::SyncFails),
    ];
    for (case, fault) in cases {
        let disk = TestDisk::default();
        let mut journal = disk.open().unwrap().journal;
        journal.append(&[approved()]).unwrap();
        disk.with(|platter| platter.fault = Some(fault));
        let failed = journal.append(&[intent("a1", 1)]);
        assert!(matches!(failed, Err(JournalError::Write { .. })), "case: {case}");
        disk.with(|platter| platter.fault = None);
        let bytes = disk.bytes();
        let failed = journal.append(&[intent("a1", 1)]);
        assert!(matches!(failed, Err(JournalError::FailedBefore)), "case: {case}");
        assert_eq!(disk.bytes(), bytes, "case: {case}: nothing is written after a failure");
        drop(journal);
        let mut again = disk.open().unwrap();
        assert_eq!(again.records[0], approved(), "case: {case}");
        again.journal.append(&[verified("a1", VerifiedState::Skipped)]).unwrap();
        assert_eq!(disk.open().unwrap().recovered, None, "case: {case}");
    }
}

#[test]
fn a_power_cut_takes_at_most_what_append_did_not_answer_for() {
    let run = a_run();
    let disk = TestDisk::default();
    let mut journal = disk.open().unwrap().journal;
    journal.append(&run[..3]).unwrap();
    disk.with(|platter| platter.fault = Some(Fault::SyncFails));
    journal.append(&run[3..]).unwrap_err();
    let (bytes, synced) = disk.with(|platter| (platter.bytes.clone(), platter.synced));
    for kept in synced..=bytes.len() {
        let records = TestDisk::holding(&bytes[..kept]).open().unwrap().records;
        assert!(records.len() >= 3 && run.starts_with(&records), "kept {kept}");
    }
}

#[test]
fn a_record_that_is_too_long_leaves_the_journal_as_it_was() {
    let disk = TestDisk::default();
    let mut journal = disk.open().unwrap().journal;
    let Record::PlanApproved { plan, host, how, at, clusters, undoes, .. } = approved() else { unreachable!() };
    let long = Record::PlanApproved { plan, who: "x".repeat(5 << 20), host, how, at, clusters, undoes };
    assert!(matches!(journal.append(&[approved(), long]), Err(JournalError::TooLong { .. })));
    assert!(disk.bytes().is_empty());
    journal.append(&[approved()]).unwrap();
}

#[test]
fn the_latest_records_decide_where_an_action_stands() {
    use ActionStanding::*;
    let gone = || Verified { state: VerifiedState::Gone, why: String::new(), at: at(3) };
    let not_sent = || match skipped("a1") {
        Record::Skipped { cluster, verb, target, why, .. } => Skipped { cluster, verb, target, why },
        other => panic!("{other:?}"),
    };
    let lost = || Verified { state: VerifiedState::Unknown, why: String::new(), at: at(3) };
    let cases: [(&str, Vec<Record>, ActionStanding); 11] = [
        ("sealed", vec![backup("a1")], Prepared),
        ("about to be sent", vec![backup("a1"), intent("a1", 1)], Open),
        ("answered", vec![intent("a1", 1), outcome("a1", Answer::Done)], Answered(Answer::Done)),
        ("nobody knows", vec![intent("a1", 1), outcome("a1", Answer::Ambiguous)], Open),
        ("looked at", vec![outcome("a1", Answer::Done), verified("a1", VerifiedState::Gone)], gone()),
        ("looked at in vain", vec![intent("a1", 1), verified("a1", VerifiedState::Unknown)], lost()),
        ("tried again", vec![outcome("a1", Answer::Throttled), intent("a1", 2)], Open),
        ("settled after a crash", vec![intent("a1", 1), resolved("a1", Found::Gone)], Resolved(Found::Gone)),
        ("sealed once more", vec![verified("a1", VerifiedState::Skipped), backup("a1")], Prepared),
        ("skipped", vec![skipped("a1")], not_sent()),
        ("skipped by a later run", vec![intent("a1", 1), verified("a1", VerifiedState::Gone), skipped("a1")], gone()),
    ];
    for (case, records, expected) in cases {
        let entries = entries(&records);
        assert_eq!(entries[0].actions[0].standing, expected, "case: {case}");
        let open: Vec<&str> = open_intents(&entries).into_iter().map(|(plan, _)| plan).collect();
        assert_eq!(open, if expected == Open || expected == lost() { vec![PLAN] } else { vec![] }, "case: {case}");
    }
}

#[test]
fn a_plan_that_is_approved_again_is_not_finished() {
    let mut records = a_run();
    assert_eq!(entries(&records)[0].finished, Some(at(5)));
    records.push(approved());
    let entries = entries(&records);
    assert_eq!((entries.len(), entries[0].approvals.len(), entries[0].finished), (1, 2, None));
}

#[test]
fn an_export_names_no_sealed_file() {
    let text = serde_json::to_string(&a_run().into_iter().map(Record::redacted).collect::<Vec<_>>()).unwrap();
    assert!(!text.contains("00ff") && text.contains("redacted") && text.contains("old-a1"), "{text}");
}

fn holder(name: &str) -> Holder {
    Holder { name: name.to_owned(), pid: 4711 }
}

fn state() -> (tempfile::TempDir, StateFolder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = StateFolder::prepare(&dir.path().join("state/trueup")).unwrap();
    (dir, folder)
}

#[test]
fn the_second_writer_gets_the_name_of_the_lock_holder() {
    let (_dir, folder) = state();
    let mut first = Journal::open(&folder, &holder("trueup apply by anna")).unwrap();
    let second = Journal::open(&folder, &holder("trueup undo by ben")).unwrap_err();
    assert_eq!(second.to_string(), "trueup apply by anna (pid 4711) is writing to the journal");
    first.journal.append(&[approved()]).unwrap();
    assert_eq!(read(&folder).unwrap().lines[0].record, approved(), "reading needs no pen");
    drop(first);
    assert_eq!(Journal::open(&folder, &holder("trueup undo by ben")).unwrap().records, [approved()]);
}

#[test]
fn files_and_folder_are_the_owners_alone() {
    let (_dir, folder) = state();
    drop(Journal::open(&folder, &holder("x")).unwrap());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path()), 0o700);
    for name in ["journal", "lock"] {
        let path = folder.path().join(name);
        assert_eq!(mode(&path), 0o600, "{name}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Journal::open(&folder, &holder("x")).unwrap_err();
        assert!(matches!(&error, JournalError::Exposed { why, .. } if why.contains("640")), "{name}: {error}");
        fs::remove_file(&path).unwrap();
        symlink("/dev/null", &path).unwrap();
        let error = Journal::open(&folder, &holder("x")).unwrap_err();
        assert!(matches!(&error, JournalError::Exposed { why, .. } if why.contains("link")), "{name}: {error}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_folder_others_can_look_into_is_refused_with_a_remedy() {
    let (_dir, folder) = state();
    for mode in [0o750, 0o705, 0o710, 0o701] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        let error = StateFolder::prepare(folder.path()).unwrap_err();
        assert_eq!(error.remedy(), format!("run chmod 700 {}", folder.path().display()), "mode {mode:o}");
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(StateFolder::look(folder.path()).unwrap(), Some(folder.clone()));
    assert_eq!(StateFolder::look(&folder.path().join("none")).unwrap(), None);
}

#[test]
fn a_torn_tail_is_read_around_without_the_pen_and_cut_off_with_it() {
    let (_dir, folder) = state();
    Journal::open(&folder, &holder("x")).unwrap().journal.append(&[approved()]).unwrap();
    let path = folder.path().join("journal");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &whole[..50]].concat()).unwrap();
    let torn = TornTail { offset: u64::try_from(whole.len()).unwrap(), bytes: 50 };
    let history = read(&folder).unwrap();
    assert_eq!((history.lines.len(), history.torn), (1, Some(torn)));
    assert_eq!(fs::read(&path).unwrap().len(), whole.len() + 50);
    assert_eq!(Journal::open(&folder, &holder("x")).unwrap().recovered, Some(torn));
    assert_eq!(fs::read(&path).unwrap(), whole);
}

const KEEP: SignedDuration = SignedDuration::from_secs(150);

/// A time that a server confirmed.
fn trusted(second: i64) -> TrustedNow {
    let agreement = ClockSkew::measure(at(second), at(second), Duration::ZERO);
    TrustedNow::confirm(at(second), [agreement]).unwrap()
}

/// The records of a plan that deleted one object at this second.
fn plan_run(plan: &str, second: i64, end: Option<VerifiedState>) -> Vec<Record> {
    let mut records = vec![approved(), backup("a1"), intent("a1", 1)];
    if let Some(state) = end {
        records.push(verified("a1", state));
        records.push(Record::Finished { plan: PLAN.to_owned(), at: at(0), counts: BTreeMap::new() });
    }
    for record in &mut records {
        match record {
            Record::PlanApproved { plan: of, at: when, .. }
            | Record::Intent { plan: of, at: when, .. }
            | Record::Verified { plan: of, at: when, .. }
            | Record::Finished { plan: of, at: when, .. } => (*of, *when) = (plan.to_owned(), at(second)),
            Record::Backup { plan: of, file, .. } => (*of, *file) = (plan.to_owned(), format!("{plan}.age")),
            Record::Outcome { .. } | Record::Resolved { .. } | Record::Skipped { .. } | Record::Restarted { .. } => {}
        }
    }
    records
}

#[test]
fn only_whole_finished_plans_that_are_old_enough_are_dropped_with_their_backups() {
    let gone = Some(VerifiedState::Gone);
    let records = [
        plan_run("old", 10, gone),
        plan_run("old-and-open", 10, Some(VerifiedState::Unknown)),
        plan_run("old-and-broken-off", 10, None),
        plan_run("young", 100, gone),
    ]
    .concat();
    let disk = TestDisk::holding(&written(&records));
    let mut opened = disk.open().unwrap();
    let last = opened.journal.chain.end();
    let mut forgotten = Vec::new();
    let mut forget = |file: &str| {
        forgotten.push(file.to_owned());
        Ok(())
    };
    let dropped = opened.journal.drop_old(&opened.records, KEEP, trusted(200), &mut forget).unwrap().unwrap();
    assert_eq!((dropped.plans, forgotten), (1, vec!["old.age".to_owned()]));
    let after = disk.open().unwrap();
    assert_eq!(after.records, dropped.records);
    let plans: Vec<String> = entries(&after.records).into_iter().map(|entry| entry.plan).collect();
    assert_eq!(plans, ["old-and-open", "old-and-broken-off", "young"]);
    let Record::Restarted { before, plans: 1, records: 5, .. } = &after.records[0] else { panic!("{after:?}") };
    assert_eq!(*before, last.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}")));
    assert_eq!(after.records[1..], records[5..], "what is kept says the same as before");

    let mut again = disk.open().unwrap();
    let nothing =
        again.journal.drop_old(&again.records, KEEP, trusted(200), &mut |_| panic!("nothing is old")).unwrap();
    assert_eq!(nothing, None);
    again.journal.append(&[approved()]).unwrap();
    let later = again.journal.drop_old(&after.records, KEEP, trusted(300), &mut |_| Ok(())).unwrap().unwrap();
    let restarts = later.records.iter().filter(|record| matches!(record, Record::Restarted { .. })).count();
    assert_eq!(restarts, 1, "one says it for all before");
}

#[test]
fn a_plan_written_while_the_clock_was_behind_counts_from_the_records_before_it() {
    let gone = Some(VerifiedState::Gone);
    let records = [plan_run("old", 10, gone), plan_run("young", 100, gone), plan_run("clock-behind", 5, gone)].concat();
    let mut opened = TestDisk::holding(&written(&records)).open().unwrap();
    let dropped = opened.journal.drop_old(&opened.records, KEEP, trusted(200), &mut |_| Ok(())).unwrap().unwrap();
    let plans: Vec<String> = entries(&dropped.records).into_iter().map(|entry| entry.plan).collect();
    assert_eq!(plans, ["young", "clock-behind"]);
}

#[test]
fn a_disk_that_fails_while_old_plans_are_dropped_keeps_them_and_ends_writing() {
    let records = plan_run("old", 10, Some(VerifiedState::Gone));
    for fault in [Fault::Full { free: 0 }, Fault::SyncFails] {
        let disk = TestDisk::holding(&written(&records));
        let mut opened = disk.open().unwrap();
        disk.with(|platter| platter.fault = Some(fault));
        let failed = opened.journal.drop_old(&opened.records, KEEP, trusted(200), &mut |_| Ok(()));
        assert!(matches!(failed, Err(JournalError::Write { .. })), "{fault:?}: {failed:?}");
        assert!(matches!(opened.journal.append(&[approved()]), Err(JournalError::FailedBefore)), "{fault:?}");
        disk.with(|platter| platter.fault = None);
        assert_eq!(disk.open().unwrap().records, records, "{fault:?}");
    }
    let disk = TestDisk::holding(&written(&records));
    let mut opened = disk.open().unwrap();
    let stuck = opened.journal.drop_old(&opened.records, KEEP, trusted(200), &mut |_| Err(io::Error::other("stuck")));
    assert!(matches!(stuck, Err(JournalError::Write { .. })), "{stuck:?}");
    assert_eq!(disk.open().unwrap().records, records, "a backup that stays keeps its plan");
}

#[test]
fn a_beginning_in_the_middle_is_damage() {
    let restarted = Record::Restarted { before: "sha256:0".to_owned(), plans: 1, records: 2, at: at(0) };
    assert!(TestDisk::holding(&written(&[restarted.clone(), approved()])).open().is_ok());
    let spliced = TestDisk::holding(&written(&[approved(), restarted])).open();
    assert!(matches!(spliced, Err(JournalError::Damaged { damage: Damage::Chain, records: 1, .. })), "{spliced:?}");
}

#[test]
fn a_rewritten_file_keeps_mode_600_and_accepts_records() {
    let (_dir, folder) = state();
    let mut opened = Journal::open(&folder, &holder("first")).unwrap();
    let records = plan_run("old", 10, Some(VerifiedState::Gone));
    opened.journal.append(&records).unwrap();
    // What a run that was killed on the way left behind.
    fs::write(folder.path().join("journal.new"), "half").unwrap();
    opened.journal.drop_old(&records, KEEP, trusted(200), &mut |_| Ok(())).unwrap().unwrap();
    opened.journal.append(&[approved()]).unwrap();
    drop(opened);
    let history = read(&folder).unwrap();
    assert_eq!((history.lines.len(), history.torn), (2, None));
    let mode = fs::metadata(folder.path().join("journal")).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode, folder.path().join("journal.new").exists()), (0o600, false));
}

#[test]
fn a_cut_at_a_record_boundary_is_found_by_a_hash_published_elsewhere() {
    let records = plan_run("one", 10, Some(VerifiedState::Gone));
    let lines = |records: &[Record]| frame::read(&written(records)).unwrap().lines;
    let whole = lines(&records);
    let published = whole[3].hash_text();
    let found = |newer| PublishedHash::Found { newer };
    let restarted = Record::Restarted { before: published.clone(), plans: 1, records: 5, at: at(0) };
    let replaced = lines(&plan_run("two", 10, Some(VerifiedState::Gone)));
    let cases = [
        ("nothing was appended since", lines(&records[..4]), found(0)),
        ("a record was appended since", whole.clone(), found(1)),
        ("compacted since", lines(&[restarted, records[4].clone()]), found(2)),
        ("cut", whole[..3].to_vec(), PublishedHash::NotFound { last: Some(whole[2].hash_text()) }),
        ("emptied", Vec::new(), PublishedHash::NotFound { last: None }),
        ("replaced", replaced.clone(), PublishedHash::NotFound { last: replaced.last().map(Line::hash_text) }),
    ];
    for (case, lines, expected) in cases {
        assert_eq!(compare_published(&lines, &published), expected, "case: {case}");
    }
}

#[test]
fn a_record_with_a_fraction_is_refused_and_the_journal_stays_usable() {
    let disk = TestDisk::default();
    let mut opened = disk.open().unwrap();
    let mut record = intent("a1", 1);
    let Record::Intent { fields, .. } = &mut record else { panic!("an intent") };
    *fields = Some(Box::new(FieldRecord { before: serde_json::json!({ "spec": 0.5 }), after: serde_json::json!({}) }));
    let refused = opened.journal.append(&[record]);
    assert!(matches!(refused, Err(JournalError::Fraction { .. })), "{refused:?}");
    opened.journal.append(&[approved()]).unwrap();
    assert_eq!(disk.open().unwrap().records, [approved()]);
}
