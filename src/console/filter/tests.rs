//! Matching, parsing, printing and completing filters.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use trueup_core::engine::State;

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

fn secret() -> Fields<'static> {
    Fields {
        state: Some(State::Extra),
        domain: "hosted-oidc",
        cluster: "eu-west-1",
        class: "prod",
        verdict: "orphan-certain",
        codes: &["no-referrer", "managed-label"],
        kind: "Secret",
        namespace: "openshift-config",
        name: "ext-auth-client-old",
        since: Some(NOW - SignedDuration::from_mins(10)),
    }
}

fn shows(filter: &str, fields: &Fields<'_>) -> bool {
    let filter = Filter::parse(filter).unwrap_or_else(|problem| panic!("{filter}: {problem}"));
    filter.shows(fields, NOW, &mut Scratch::default())
}

#[test]
fn a_row_is_shown_when_every_term_matches() {
    let cases = [
        ("no filter", "", true),
        ("state", "state:extra", true),
        ("another state", "state:drift", false),
        ("one of several states", "state:drift,extra", true),
        ("the screen's word for match", "state:ok", false),
        ("the beginning of a domain", "domain:hosted", true),
        ("half a word is no beginning", "domain:host", false),
        ("pattern", "cluster:eu*", true),
        ("pattern over the whole", "cluster:west*", false),
        ("pattern with a start", "cluster:*west*", true),
        ("quoted is exact", "cluster:\"eu\"", false),
        ("quoted and whole", "cluster:\"eu-west-1\"", true),
        ("verdict", "verdict:orphan", true),
        ("class", "class:prod", true),
        ("kind in small letters", "kind:secret", true),
        ("pattern in any letters", "kind:SEC*", true),
        ("namespace by its short key", "ns:openshift", true),
        ("namespace by its long key", "namespace:openshift-config", true),
        ("inside", "name~client", true),
        ("not inside", "name~server", false),
        ("any of the codes", "code:managed", true),
        ("no such code", "code:other", false),
        ("older", "age>5m", true),
        ("not that old", "age>10m", false),
        ("younger", "age<2h", true),
        ("spans add up", "age<9m59s", false),
        ("excluded", "!class:dev", true),
        ("excluded by a minus", "-state:extra", false),
        ("excluding several", "!state:drift,extra", false),
        ("all hold", "state:extra cluster:eu* age>5m name~client !class:dev", true),
        ("one fails", "state:extra cluster:us* age>5m", false),
        ("kind by its short name", "kind:cm", false),
        ("a word", "auth-client", true),
        ("a word over fields", "config/ext", true),
        ("a word with gaps", "extclold", false),
        ("starts of words", "eauthc", true),
        ("starts of words of another field", "eu1", false),
        ("starts of words that follow each other", "euw1", true),
        ("starts of skipped words", "extold", false),
        ("fuzzy", "~extclold", true),
        ("fuzzy over fields", "~secretwest", true),
        ("fuzzy in order", "~oldext", false),
        ("fuzzy, excluded", "!~extclold", false),
        ("two words in any order", "old ext", true),
        ("quoted text", "\"auth-client\"", true),
        ("quoted text is whole", "\"authclient\"", false),
        ("quoted text in any letters", "\"SECRET openshift\"", true),
        ("a word is excluded where it stands", "!auth", false),
        ("and not by starts of words", "!extauthc", true),
    ];
    for (case, filter, expected) in cases {
        assert_eq!(shows(filter, &secret()), expected, "case: {case}");
    }
}

#[test]
fn an_absent_field_matches_only_exclusions() {
    let bare = Fields::default();
    for term in ["state:extra", "age>1s", "age<1s", "cluster:eu", "cluster:e*", "code:*", "name~x", "word", "~word"] {
        assert!(!shows(term, &bare), "{term}");
        assert!(shows(&format!("!{term}"), &bare), "!{term}");
    }
    assert!(shows("ns:\"\"", &bare), "cluster-scoped objects");
}

#[test]
fn the_best_fit_is_first() {
    let filter = Filter::parse("eks-games").unwrap();
    let row = |name: &'static str, cluster: &'static str| Fields { name, cluster, ..Fields::default() };
    let rows = [
        row("eks-games", ""),
        row("eks-games-kubeconfig", ""),
        row("old-eks-games", ""),
        row("oldeks-games", ""),
        row("kubeconfig", "eks-games-1"),
        row("eks.gamestore", ""),
    ];
    let mut scratch = Scratch::default();
    let misfits: Vec<u32> = rows.iter().map(|row| filter.misfit(row, NOW, &mut scratch).unwrap()).collect();
    assert_eq!(misfits, [0, 1, 2, 3, 4, 5]);
    assert_eq!(filter.misfit(&row("eks-shared-games", ""), NOW, &mut scratch), None, "a word between is not skipped");
    assert_eq!(filter.misfit(&row("eks-maps-kubeconfig", ""), NOW, &mut scratch), None);
    let close = Filter::parse("~client").unwrap();
    let mut of = |name| close.misfit(&row(name, ""), NOW, &mut scratch).unwrap();
    assert!(of("client") < of("c-l-i-e-n-t") && of("client") >= 16);
}

#[test]
fn an_invalid_filter_has_the_range_of_its_error() {
    let cases = [
        (
            "unknown key",
            "state:extra clster:eu",
            12..18,
            "Unknown key clster: (did you mean cluster:?)",
            Some("cluster"),
        ),
        ("no near key", "zzzzzz:x", 0..6, "Unknown key zzzzzz: (quote the word to search for it)", None),
        ("unknown state", "state:extra,drif", 12..16, "Unknown state drif (did you mean drift?)", Some("drift")),
        ("no value", "x cluster:", 10..10, "No value after cluster:", None),
        ("no value after a comma", "state:extra,", 12..12, "No value after state:", None),
        ("no span", "age>soon", 4..8, "Expected a duration, such as 30s, 5m, 2h30m, 4d or 1w", None),
        ("two spans", "age>1m,2m", 4..9, "Expected one duration, such as 5m", None),
        ("an age that is named", "age:5m", 0..6, "Write age>5m or age<2h", None),
        ("a state that is compared", "state~ex", 0..8, "Write state:extra,drift", None),
        ("a name that is compared", "name>x", 4..5, "> compares ages only: write name: or name~", None),
        ("an open quote", "a \"b c", 2..6, "Unclosed quote", None),
        ("nothing to exclude", "a ! b", 2..3, "Nothing to exclude, as in !class:dev", None),
        ("a key that is a part of another", "stat:x", 0..4, "Unknown key stat: (did you mean state:?)", Some("state")),
        ("an age by another name", "aeg>5m", 0..3, "Unknown key aeg> (did you mean age>?)", Some("age")),
        ("nothing to search for", "a ~", 2..3, "No letters after ~, as in ~extclient", None),
        ("nothing in quotes", "\"\"", 0..2, "Nothing in the quotes", None),
        (
            "too long a span",
            "age>99999999999999999999w",
            4..25,
            "Expected a duration, such as 30s, 5m, 2h30m, 4d or 1w",
            None,
        ),
    ];
    for (case, text, at, message, nearest) in cases {
        let expected = FilterProblem { at, message: message.to_owned(), nearest };
        assert_eq!(Filter::parse(text), Err(expected), "case: {case}");
    }
}

#[test]
fn a_filter_prints_in_its_own_syntax() {
    let cases = [
        ("  state:ok,Extra   !dev ", "state:match,extra !\"dev\""),
        ("-kind:Secret name~'x namespace:\"a b\"", "!kind:secret name~\"'x\" ns:\"a b\""),
        ("age>90m age<8d", "age>1h30m age<1w1d"),
        ("age>0s", "age>0s"),
        ("\"a \\\"b\\\" \\\\\"", "\"a \\\"b\\\" \\\\\""),
        ("a-b:c :x 5>3", "a-b:c :x 5>3"),
        ("~Ext !~old ~\"a b\"", "~Ext !~old ~\"a b\""),
    ];
    for (typed, printed) in cases {
        assert_eq!(Filter::parse(typed).unwrap().to_string(), printed, "{typed}");
    }
    assert!(Filter::parse(" ").unwrap().is_empty());
}

#[test]
fn completions_continue_at_the_cursor() {
    let known = Known { clusters: vec!["eu-west", "my eu", "us-east"], ..Known::default() };
    let cases = [
        ("a key", "sta", 3, 0..3, vec!["state:"]),
        ("a key after a sign", "x !cl", 5, 3..5, vec!["cluster:", "class:"]),
        ("an age", "ag", 2, 0..2, vec!["age>"]),
        ("a state", "state:e", 7, 6..7, vec!["extra", "error", "stale", "blocked"]),
        ("a second state", "state:extra,dr x", 14, 12..14, vec!["drift"]),
        ("a cluster, quoted where it has to be", "cluster:eu", 10, 8..10, vec!["eu-west", "\"my eu\""]),
        ("inside quotes", "cluster:\"my e", 13, 8..13, vec!["\"my eu\""]),
        ("an unknown key", "foo:x", 5, 4..5, vec![]),
        ("inside a character", "sö", 2, 0..1, vec!["state:"]),
    ];
    for (case, text, cursor, at, options) in cases {
        let options = options.into_iter().map(str::to_owned).collect();
        assert_eq!(complete(text, cursor, &known), Completions { at, options }, "case: {case}");
    }
    assert_eq!(complete("", 0, &known).options.len(), 10, "every key");
}

fn term() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec!["domain", "cluster", "class", "verdict", "code", "kind", "ns", "name"]);
    let value = prop::sample::select(vec![
        "eu", "eu*", "\"eu\"", "e?", "prod", "secret", "client", "\"a b\"", "orphan", "old", "\"\"", "ö", "x-y",
    ]);
    let values = prop::collection::vec(value, 1..4).prop_map(|values| values.join(","));
    prop_oneof![
        (key, prop::sample::select(vec![":", "~"]), values)
            .prop_map(|(key, sign, values)| format!("{key}{sign}{values}")),
        prop::sample::subsequence(State::ALL.to_vec(), 1..4).prop_map(|states| format!(
            "state:{}",
            states.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(",")
        )),
        (prop::sample::select(vec!["age>", "age<"]), 0u64..100_000)
            .prop_map(|(sign, seconds)| format!("{sign}{seconds}s")),
        prop::sample::select(vec!["\"ext\"", "\"a b\"", "\"eu-\"", "\"\\\"\""]).prop_map(str::to_owned),
    ]
}

fn fields() -> impl Strategy<Value = (Vec<&'static str>, Option<State>, Option<i64>)> {
    let texts =
        prop::sample::select(vec!["", "eu", "eu-west", "Secret", "ext-auth-client-old", "prod", "a b", "ö", "x-y"]);
    (
        prop::collection::vec(texts, 9),
        prop::option::of(prop::sample::select(State::ALL.to_vec())),
        prop::option::of(-100i64..100_000),
    )
}

proptest! {
    #[test]
    fn parsing_and_matching_never_panic(text in "\\PC{0,40}|[a-z:~<>!\",\\\\* 0-9-]{0,40}", cursor in 0usize..50) {
        match Filter::parse(&text) {
            Ok(filter) => {
                filter.misfit(&secret(), NOW, &mut Scratch::default());
                filter.matched("größer ext-auth");
                prop_assert_eq!(Filter::parse(&filter.to_string()), Ok(filter));
            }
            Err(problem) => prop_assert!(text.get(problem.at.clone()).is_some(), "{:?}", problem),
        }
        let completions = complete(&text, cursor, &Known::default());
        prop_assert!(text.get(completions.at).is_some());
    }

    #[test]
    fn a_word_matches_at_least_where_it_is_contained(
        word in "[a-cA-Cé/-]{1,4}",
        texts in prop::collection::vec("[a-cA-Cé/ -]{0,6}", 5),
    ) {
        let fields = Fields {
            kind: &texts[0],
            namespace: &texts[1],
            name: &texts[2],
            cluster: &texts[3],
            verdict: &texts[4],
            ..Fields::default()
        };
        if Filter::parse(&word).is_ok() {
            let is_contained = shows(&format!("\"{word}\""), &fields);
            let is_excluded = word.starts_with(['!', '-']);
            prop_assert!(shows(&word, &fields) || !is_contained || is_excluded, "{}", word);
        }
        let matched = Filter::parse(&word).map(|filter| filter.matched(&texts[2])).unwrap_or_default();
        prop_assert!(matched.iter().all(|range| texts[2].get(range.clone()).is_some()));
        prop_assert!(matched.is_sorted_by(|one, other| one.end < other.start));
    }

    #[test]
    fn an_excluded_term_shows_exactly_what_it_hides_without_exclusion(term in term(), (texts, state, seconds) in fields()) {
        let fields = Fields {
            state,
            domain: texts[0],
            cluster: texts[1],
            class: texts[2],
            verdict: texts[3],
            codes: &texts[4..6],
            kind: texts[6],
            namespace: texts[7],
            name: texts[8],
            since: seconds.map(|seconds| NOW - SignedDuration::from_secs(seconds)),
        };
        let excluded = format!("!{term}");
        prop_assert_ne!(shows(&term, &fields), shows(&excluded, &fields));
        for text in [term, excluded] {
            let filter = Filter::parse(&text).unwrap();
            prop_assert_eq!(Filter::parse(&filter.to_string()), Ok(filter));
        }
    }
}
