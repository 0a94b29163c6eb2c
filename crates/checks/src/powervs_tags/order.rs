//! Where a resource is in the order of a teardown, for its list: `4, after 1 to 3`, `blocks 7 (vpc)`.
//!
//! Invariants: steps are numbered in the order of the provider, from 1; a number is that of the same teardown everywhere.
//! Elsewhere: what goes and what waits for what (`teardown`).

use std::collections::{BTreeMap, BTreeSet};

use super::context::CheckContext;
use super::kind::Kind;
use super::ruling::Ruling;
use super::teardown::Teardown;
use super::verdict::Verdict;

/// A resource in the order of a teardown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// It is a step, after these.
    Step { number: u32, after: Vec<u32> },
    /// It goes with the resource of this step, which contains it.
    With(u32),
    /// It stays, and its holder cannot be deleted before it is gone.
    Blocks { number: u32, kind: &'static str },
}

impl Turn {
    /// `4, after 1 to 3`
    pub fn message(&self) -> String {
        match self {
            Self::Step { number, after } if after.is_empty() => number.to_string(),
            Self::Step { number, after } => format!("{number}, after {}", ranges(after)),
            Self::With(number) => format!("with {number}"),
            Self::Blocks { number, kind } => format!("blocks {number} ({kind})"),
        }
    }

    /// Where its row is among those of the teardown.
    pub fn place(&self) -> u32 {
        match self {
            Self::Step { number, .. } | Self::With(number) | Self::Blocks { number, .. } => *number,
        }
    }
}

/// The turn of a resource: in the teardown of the cluster it is seen from, in what a dead cluster left, or in the way of
/// another's.
pub fn turn(context: &CheckContext<'_>, account: usize, item: usize, seen_from: Option<usize>) -> Option<Turn> {
    let own = seen_from.filter(|claimant| context.claimants[*claimant].is_torn_down());
    if let Some(claimant) = own {
        return in_teardown(context, account, item, &context.teardown(account, claimant));
    }
    let holders = [context.accounts[account].parents[item], context.accounts[account].ends[item]];
    let holders: BTreeSet<usize> = holders.into_iter().flatten().collect();
    if holders.is_empty() {
        return None;
    }
    let going = context.claimants.iter().enumerate().filter(|(_, one)| one.is_torn_down());
    going.map(|(claimant, _)| context.teardown(account, claimant)).find_map(|teardown| {
        let is_near = holders.iter().any(|holder| teardown.steps.contains_key(holder));
        if is_near { in_teardown(context, account, item, &teardown) } else { None }
    })
}

/// The same in what a dead cluster left.
pub fn turn_of_leaked(context: &CheckContext<'_>, account: usize, item: usize, ruling: &Ruling) -> Option<Turn> {
    let uuid = ruling.owner.as_deref().filter(|_| ruling.verdict == Verdict::Orphan)?;
    in_teardown(context, account, item, &context.leaked(account, uuid))
}

fn in_teardown(context: &CheckContext<'_>, account: usize, item: usize, teardown: &Teardown) -> Option<Turn> {
    let numbers = numbers(teardown);
    if let (Some(number), Some(step)) = (numbers.get(&item), teardown.steps.get(&item)) {
        let mut after: Vec<u32> = step.after.iter().filter_map(|before| numbers.get(before).copied()).collect();
        after.sort_unstable();
        return Some(Turn::Step { number: *number, after });
    }
    let site = &context.accounts[account];
    let holder =
        [site.parents[item], site.ends[item]].into_iter().flatten().find(|holder| numbers.contains_key(holder))?;
    let number = numbers[&holder];
    if teardown.steps[&holder].holds.contains(&context.described(account, item)) {
        let kind = context.resource(account, holder).kind.map_or("", Kind::as_str);
        return Some(Turn::Blocks { number, kind });
    }
    let goes_along = matches!(context.resource(account, item).kind, Some(Kind::Network | Kind::DhcpServer));
    goes_along.then_some(Turn::With(number))
}

/// The number of each step.
fn numbers(teardown: &Teardown) -> BTreeMap<usize, u32> {
    let mut steps: Vec<_> = teardown.steps.iter().map(|(item, step)| (step.stage, *item)).collect();
    steps.sort_unstable();
    steps.into_iter().map(|(_, item)| item).zip(1..).collect()
}

/// `1 to 3, 5`
fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            Some(_) | None => runs.push((*number, *number)),
        }
    }
    let run = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        2.. => format!("{first} to {last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_before_are_named_in_runs() {
        let cases: [(&[u32], &str); 4] =
            [(&[1], "1"), (&[1, 2], "1, 2"), (&[1, 2, 3], "1 to 3"), (&[1, 3, 4, 5, 7], "1, 3 to 5, 7")];
        for (numbers, expected) in cases {
            assert_eq!(ranges(numbers), expected);
        }
    }
}
