//! Many sequences on two servers at once, and what to say when they differ.
//!
//! Always true:
//! - the nth sequence of a seed is always the same, on any machine;
//! - each kind of difference is reported once, as the shortest sequence that still shows it.
//!
//! # Limits
//!
//! One difference is known and excused, see [`Difference::is_known`].

use std::collections::BTreeMap;
use std::fmt::Write;

use futures::StreamExt;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use super::ops::{Kind, Op, Sequence};
use super::session::{Step, run};
use super::strategies::sequences;
use super::targets::Target;

/// Sequences in flight. Each waits for the server more than it works; a connection carries 100 requests at once or more.
const AT_ONCE: usize = 48;

/// Kinds of difference that are shown in full. More than these is a list too long to read.
const SHOWN_MAX: usize = 12;

/// Tries to shorten one sequence. Each try runs it on both servers, about 50 ms.
const SHORTEN_TRIES_MAX: usize = 150;

/// Sequences of one class that are run once more before the class counts.
const CONFIRM_TRIES_MAX: usize = 3;

/// The first step at which two servers disagree.
#[derive(Debug, Clone)]
struct Difference {
    sequence: Sequence,
    expected: Option<Step>,
    actual: Option<Step>,
    /// Where in the answers, as a JSON pointer without the numbers of array elements.
    place: String,
}

/// Differences by class, each with the numbers of the sequences that show it.
type Differences = BTreeMap<String, Vec<(u64, Difference)>>;

/// What many sequences on two servers showed.
pub struct Comparison {
    seed: u64,
    count: u64,
    differences: Differences,
    /// How often the first server gave which answer: the operation, the code and, of a refusal, the reason.
    pub answers: BTreeMap<String, usize>,
}

/// Runs `count` sequences of `seed` on both servers.
pub async fn compare<E: Target, A: Target>(expected: &E, actual: &A, seed: u64, count: u64) -> Comparison {
    let each = futures::stream::iter(0..count).map(|nth| {
        let (expected, actual) = (expected.clone(), actual.clone());
        let sequence = tree(seed, nth).current();
        tokio::spawn(async move {
            let (steps, difference) = run_both(&expected, &actual, &sequence).await;
            (nth, sequence, steps, difference)
        })
    });
    let mut ended = each.buffer_unordered(AT_ONCE);
    let mut comparison = Comparison { seed, count, differences: BTreeMap::new(), answers: BTreeMap::new() };
    while let Some(one) = ended.next().await {
        let (nth, sequence, steps, difference) = one.expect("a sequence runs to its end");
        for step in &steps {
            *comparison.answers.entry(answer_of(&sequence, step)).or_default() += 1;
        }
        if let Some(difference) = difference {
            comparison.differences.entry(difference.class()).or_default().push((nth, difference));
        }
    }
    comparison
}

impl Comparison {
    pub fn is_alike(&self) -> bool {
        self.differences.is_empty()
    }

    /// Drops what does not show again when it is tried once more: a real server that shares its machine may answer that it
    /// is too busy. What was dropped is named on stderr.
    pub async fn confirmed<E: Target, A: Target>(mut self, expected: &E, actual: &A) -> Self {
        let mut kept = BTreeMap::new();
        for (class, examples) in std::mem::take(&mut self.differences) {
            if shows_again(expected, actual, &class, &examples).await {
                kept.insert(class, examples);
            } else {
                eprintln!("seen once and not again: {class}\n{}", examples[0].1.shown());
            }
        }
        Self { differences: kept, ..self }
    }

    /// Every kind of difference once, as short as it can be made.
    pub async fn report<E: Target, A: Target>(self, expected: &E, actual: &A) -> String {
        let Self { seed, count, differences, answers: _ } = self;
        let mut report = format!("{} kinds of difference in {count} sequences of seed {seed}\n", differences.len());
        for (class, mut examples) in by_frequency(differences) {
            examples.sort_by_key(|(nth, difference)| (difference.sequence.ops.len(), *nth));
            let (nth, unshortened) = &examples[0];
            let shortest = shorten(expected, actual, tree(seed, *nth), &class).await;
            let shown = shortest.as_ref().unwrap_or(unshortened).shown();
            let _ = write!(report, "\n== {class}: {} times, such as sequence {nth}\n{shown}", examples.len());
        }
        report
    }
}

async fn shows_again<E: Target, A: Target>(
    expected: &E,
    actual: &A,
    class: &str,
    examples: &[(u64, Difference)],
) -> bool {
    for (_, difference) in examples.iter().take(CONFIRM_TRIES_MAX) {
        let tried = run_both(expected, actual, &difference.sequence).await.1;
        if tried.is_some_and(|difference| difference.class() == class) {
            return true;
        }
    }
    false
}

fn answer_of(sequence: &Sequence, step: &Step) -> String {
    let op = op_word(sequence, step);
    let reason = step.answer["body"]["reason"].as_str().unwrap_or_default();
    let first = step.answer.as_object().and_then(|answer| answer.keys().next());
    match (&step.answer["status"], first) {
        (Value::Number(status), _) => format!("{op} {status} {reason}").trim_end().to_owned(),
        (_, Some(key)) => format!("{op} {key}"),
        (_, None) => op,
    }
}

/// The name of the operation that a step belongs to.
fn op_word(sequence: &Sequence, step: &Step) -> String {
    let op = sequence.ops.get(step.op).map(|op| format!("{op:?}")).unwrap_or_default();
    op.split([' ', '{']).next().unwrap_or_default().to_owned()
}

fn by_frequency(found: Differences) -> Vec<(String, Vec<(u64, Difference)>)> {
    let mut all: Vec<_> = found.into_iter().collect();
    all.sort_by_key(|(class, examples)| (std::cmp::Reverse(examples.len()), class.clone()));
    all.truncate(SHOWN_MAX);
    all
}

/// The nth sequence of a seed, with the ways to make it shorter.
fn tree(seed: u64, nth: u64) -> impl ValueTree<Value = Sequence> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&nth.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    sequences().new_tree(&mut runner).expect("no strategy here rejects a value")
}

/// Runs one sequence on both servers. Returns the steps on the first, and where the second parted from it.
async fn run_both<E: Target, A: Target>(
    expected: &E,
    actual: &A,
    sequence: &Sequence,
) -> (Vec<Step>, Option<Difference>) {
    let (expected, actual) = tokio::join!(run(expected, sequence), run(actual, sequence));
    let difference = difference(sequence, &expected, &actual);
    (expected, difference)
}

fn difference(sequence: &Sequence, expected: &[Step], actual: &[Step]) -> Option<Difference> {
    let steps = expected.len().max(actual.len());
    let compared = |step: &Step| (step.op, step.answer.clone());
    let pairs = (0..steps).map(|nth| (expected.get(nth), actual.get(nth)));
    let (expected, actual) =
        pairs.into_iter().find(|(expected, actual)| expected.map(compared) != actual.map(compared))?;
    let place = match (expected, actual) {
        (Some(expected), Some(actual)) => place_of(&expected.answer, &actual.answer),
        (None, _) | (_, None) => "the number of requests".to_owned(),
    };
    let (expected, actual) = (expected.cloned(), actual.cloned());
    let found = Difference { sequence: sequence.clone(), expected, actual, place };
    (!found.is_known()).then_some(found)
}

/// Where two unequal values first differ.
fn place_of(expected: &Value, actual: &Value) -> String {
    match (expected, actual) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            let mut differing: Vec<_> = keys.filter(|key| left.get(*key) != right.get(*key)).collect();
            // A code says more than a body, and a message more than its details.
            differing.sort_by_key(|key| (*key != "status", *key != "message"));
            let Some(key) = differing.first() else {
                return String::new();
            };
            let (left, right) = (left.get(*key).unwrap_or(&Value::Null), right.get(*key).unwrap_or(&Value::Null));
            format!("/{key}{}", place_of(left, right))
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pair = left.iter().zip(right).find(|(left, right)| left != right);
            pair.map_or_else(String::new, |(left, right)| place_of(left, right))
        }
        _ => String::new(),
    }
}

/// Makes a sequence as short as it can be while it still differs in the same way.
async fn shorten<E: Target, A: Target>(
    expected: &E,
    actual: &A,
    mut tree: impl ValueTree<Value = Sequence>,
    class: &str,
) -> Option<Difference> {
    let mut shortest = None;
    let mut differs = true;
    for _ in 0..SHORTEN_TRIES_MAX {
        let moved = if differs { tree.simplify() } else { tree.complicate() };
        if !moved {
            break;
        }
        let tried = run_both(expected, actual, &tree.current()).await.1;
        let same = tried.filter(|difference| difference.class() == class);
        differs = same.is_some();
        shortest = same.or(shortest);
    }
    shortest
}

/// Whether an apply leaves out what another apply of the same manager set.
fn dropped(set: &Op, without: &Op) -> bool {
    match (set, without) {
        (
            Op::Apply { name, manager, label, finalizers, .. },
            Op::Apply { name: same, manager: by, label: now, finalizers: left, .. },
        ) => {
            let fewer = (label.is_some() && now.is_none()) || (finalizers.is_some() && left.is_none());
            name == same && manager == by && fewer
        }
        _ => false,
    }
}

impl Difference {
    /// What makes two differences one and the same: the kind of operation, and where the answers part.
    fn class(&self) -> String {
        let step = self.expected.as_ref().or(self.actual.as_ref());
        let word = step.map(|step| op_word(&self.sequence, step)).unwrap_or_default();
        format!("{:?} {word} at {}", self.sequence.kind, self.place)
    }

    /// A real server keeps the emptied labels or finalizers of a custom resource after an apply that dropped the last of
    /// them. They are not shown, but the next write takes them out, and so it makes a new version even if it changes
    /// nothing. The simulated one never keeps them.
    fn is_known(&self) -> bool {
        let Some(step) = &self.expected else { return false };
        let about = self.sequence.ops.get(step.op).and_then(Op::name);
        let before = self.sequence.ops.iter().take(step.op + 1).filter(|op| op.name() == about);
        let mut drops = before.filter(|op| self.sequence.ops.iter().any(|other| dropped(other, op)));
        self.sequence.kind == Kind::Widget && self.place == "/body/metadata/resourceVersion" && drops.next().is_some()
    }

    fn shown(&self) -> String {
        let mut text = String::new();
        for (nth, op) in self.sequence.ops.iter().enumerate() {
            let here = self.expected.iter().chain(&self.actual).any(|step| step.op == nth);
            let _ = writeln!(text, "  {} {op:?}", if here { ">" } else { " " });
        }
        for (whose, step) in [("real", &self.expected), ("other", &self.actual)] {
            let Some(step) = step else {
                let _ = writeln!(text, "  {whose}: no such request");
                continue;
            };
            let answer = serde_json::to_string_pretty(&step.answer).unwrap_or_default().replace('\n', "\n    ");
            let _ = writeln!(text, "  {whose}: {}\n    {answer}", step.request);
        }
        text
    }
}
