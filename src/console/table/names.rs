//! Shortening the names of a column so that different names stay different.
//!
//! Invariants: a name is cut only where it does not fit; what all names share is cut first: the end (`-kubeconfig`), then
//! the beginning. Different names are shown differently wherever one of the cuts allows it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::text::{beginning, columns, end, shown};
use super::{Glyphs, cut_middle, fit};

/// Shortest shared beginning or end that is cut.
const SHARED_MIN: usize = 3;

/// Shows each name in its width.
pub fn shorten<'t>(names: &[(&'t str, usize)], glyphs: &Glyphs) -> Vec<Cow<'t, str>> {
    let escaped: Vec<Cow<'t, str>> = names.iter().map(|(name, _)| shown(name, glyphs)).collect();
    let is_long = |place: usize| columns(&escaped[place]) > names[place].1;
    if !(0..names.len()).any(is_long) {
        return escaped;
    }
    let texts: Vec<&str> = escaped.iter().map(AsRef::as_ref).collect();
    let (first, last) = (shared_beginning(&texts), shared_end(&texts));
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    // Whole names cannot change, so that they are taken first.
    for place in (0..names.len()).filter(|place| !is_long(*place)) {
        taken.insert(texts[place].to_owned(), texts[place]);
    }
    let mut cut = Vec::with_capacity(names.len());
    for (place, text) in texts.iter().enumerate() {
        if !is_long(place) {
            cut.push(Cow::Owned((*text).to_owned()));
            continue;
        }
        let ways = ways(text, names[place].1, (first, last), glyphs);
        let is_free = |way: &&String| taken.get(*way).is_none_or(|other| other == text);
        let chosen = ways.iter().find(is_free).unwrap_or(&ways[0]).clone();
        taken.insert(chosen.clone(), text);
        cut.push(Cow::Owned(chosen));
    }
    cut
}

/// The ways to cut a name, the preferred one first.
fn ways(text: &str, width: usize, (first, last): (&str, &str), glyphs: &Glyphs) -> Vec<String> {
    let ellipsis = glyphs.ellipsis;
    let mut ways = Vec::new();
    let Some(space) = width.checked_sub(columns(ellipsis)) else {
        return vec![fit(text, width, glyphs).into_owned()];
    };
    let body = text.strip_suffix(last).unwrap_or(text);
    if !last.is_empty() && columns(body) <= space {
        ways.push(format!("{body}{ellipsis}"));
    }
    let rest = text.strip_prefix(first).unwrap_or(text);
    if !first.is_empty() && columns(rest) <= space {
        ways.push(format!("{ellipsis}{rest}"));
    }
    if let Some(middle) = rest.strip_suffix(last).filter(|_| !first.is_empty() && !last.is_empty())
        && let Some(space) = space.checked_sub(columns(ellipsis))
    {
        ways.push(format!("{ellipsis}{}{ellipsis}", beginning(middle, space)));
    }
    ways.push(cut_middle(text, width, glyphs).into_owned());
    ways.push(format!("{}{ellipsis}", beginning(text, space)));
    ways.push(format!("{ellipsis}{}", end(text, space)));
    ways
}

/// The beginning that all names share, up to a separator.
fn shared_beginning<'t>(texts: &[&'t str]) -> &'t str {
    let Some((one, others)) = texts.split_first() else { return "" };
    let shared = |other: &&str| one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let length = others.iter().filter(|other| **other != *one).map(shared).min().unwrap_or(0);
    let at = one.as_bytes()[..length].iter().rposition(|byte| is_separator(*byte)).map_or(0, |at| at + 1);
    if at >= SHARED_MIN { one.get(..at).unwrap_or("") } else { "" }
}

/// The end that all names share, from a separator.
fn shared_end<'t>(texts: &[&'t str]) -> &'t str {
    let Some((one, others)) = texts.split_first() else { return "" };
    let shared =
        |other: &&str| one.bytes().rev().zip(other.bytes().rev()).take_while(|(one, other)| one == other).count();
    let length = others.iter().filter(|other| **other != *one).map(shared).min().unwrap_or(0);
    let from = one.len() - length;
    let at = one.as_bytes()[from..].iter().position(|byte| is_separator(*byte)).map_or(one.len(), |at| from + at);
    if one.len() - at >= SHARED_MIN { one.get(at..).unwrap_or("") } else { "" }
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_punctuation() || byte == b' '
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shortened(names: &[&str], width: usize) -> Vec<String> {
        let names: Vec<(&str, usize)> = names.iter().map(|name| (*name, width)).collect();
        shorten(&names, &Glyphs::UNICODE).into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn what_all_names_share_is_cut_first() {
        let configs = ["eks-games-kubeconfig", "eks-shared-kubeconfig", "eks-maps-kubeconfig"];
        let cases = [
            ("all fit", configs.to_vec(), 21, configs.to_vec()),
            (
                "the one that does not fit",
                configs.to_vec(),
                20,
                vec!["eks-games-kubeconfig", "eks-shared…", "eks-maps-kubeconfig"],
            ),
            ("the end", configs.to_vec(), 11, vec!["eks-games…", "eks-shared…", "eks-maps…"]),
            (
                "the beginning",
                vec!["production-cluster-north", "production-cluster-south"],
                12,
                vec!["…north", "…south"],
            ),
            ("both", vec!["openshift-a-kubeconfig", "openshift-b-kubeconfig"], 5, vec!["…a…", "…b…"]),
            ("nothing shared", vec!["checkout-sso", "payments-sso-ca"], 9, vec!["chec…-sso", "paym…o-ca"]),
            (
                "the middle differs",
                vec!["aaaaaaaa-1-zzzzzzzz-x", "aaaaaaaa-2-zzzzzzzz-x"],
                12,
                vec!["aaaaaaaa-1…", "aaaaaaaa-2…"],
            ),
        ];
        for (case, names, width, expected) in cases {
            assert_eq!(shortened(&names, width), expected, "case: {case}");
        }
    }

    #[test]
    fn a_cut_name_differs_from_a_whole_one() {
        let names = [("abcd…", 5), ("abcdefgh", 5)];
        let cut = shorten(&names, &Glyphs::UNICODE);
        assert_ne!(cut[0], cut[1]);
    }

    proptest! {
        #[test]
        fn a_name_fits_its_width(names in prop::collection::vec("[a-c-]{0,12}|\\PC{0,8}", 0..6), width in 0usize..14) {
            for glyphs in [Glyphs::UNICODE, Glyphs::ASCII] {
                let asked: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), width)).collect();
                let cut = shorten(&asked, &glyphs);
                prop_assert_eq!(cut.len(), names.len());
                for (cut, name) in cut.iter().zip(&names) {
                    prop_assert!(columns(cut) <= width, "{} in {}", cut, width);
                    if columns(&shown(name, &glyphs)) <= width {
                        prop_assert_eq!(cut, &shown(name, &glyphs));
                    }
                }
            }
        }
    }
}
