use super::*;

const TEXT: &str = r#"
copies = "observe"
name_patterns = ["oidc-*", "sso-*"]
manage = true
most = 0x10
until = 2026-12-31
moment = 2026-12-31T10:00:00Z
part = 1.5
huge = 99999999999999999999
mixed = ["a", 1]
[inner]
deep = 1
[[rows]]
one = 1
[[rows]]
two = 2
"#;

fn table() -> SettingsTable {
    SettingsTable::parse("[domains.x]", TEXT).unwrap()
}

fn words(list: Vec<Spanned<&str>>) -> Vec<&str> {
    list.into_iter().map(Spanned::into_inner).collect()
}

#[test]
fn each_sort_of_value_is_read_as_what_it_is() {
    let table = table();
    assert_eq!(table.take_str("copies").unwrap().unwrap().into_inner(), "observe");
    assert_eq!(words(table.take_strings("name_patterns").unwrap().unwrap()), ["oidc-*", "sso-*"]);
    assert_eq!(table.take_bool("manage"), Ok(Some(true)));
    assert_eq!(table.take_integer("most", 1..=16), Ok(Some(16)));
    assert_eq!(table.take_date("until"), Ok(Some(jiff::civil::date(2026, 12, 31))));
    assert_eq!(table.take_choice("copies", &[("manage", 1), ("observe", 2)]), Ok(Some(2)));
    let inner = table.take_table("inner").unwrap().unwrap();
    assert_eq!((inner.title(), inner.take_integer("deep", 0..=9)), ("[domains.x.inner]", Ok(Some(1))));
    let rows = table.take_tables("rows").unwrap();
    assert_eq!(rows.iter().map(|row| row.title()).collect::<Vec<_>>(), ["[[domains.x.rows]]"; 2]);
    assert_eq!(rows[1].take_integer("two", 0..=9), Ok(Some(2)));
}

#[test]
fn a_key_that_is_not_there_is_no_problem() {
    let table = SettingsTable::empty("[domains.x]");
    assert!(table.take_str("copies").unwrap().is_none());
    assert!(table.take_strings("copies").unwrap().is_none());
    assert_eq!(table.take_bool("manage"), Ok(None));
    assert_eq!(table.take_choice("copies", &[("manage", 1)]), Ok(None));
    assert!(table.take_tables("rows").unwrap().is_empty());
}

#[test]
fn a_value_of_another_sort_is_a_problem_with_its_place() {
    let table = table();
    let cases = [
        ("number for text", table.take_str("most").map(drop), "wants a text in quotes, and got 16"),
        ("text for list", table.take_strings("copies").map(drop), "and got a text"),
        ("number in list", table.take_strings("mixed").map(drop), "wants a list of texts"),
        ("text for flag", table.take_bool("copies").map(drop), "wants true or false"),
        ("out of range", table.take_integer("most", 0..=15).map(drop), "a whole number from 0 to 15, and got 16"),
        ("fraction", table.take_integer("part", 0..=i64::MAX).map(drop), "a whole number from 0, and got a fraction"),
        ("too large", table.take_integer("huge", 0..=9).map(drop), "too large"),
        ("moment for date", table.take_date("moment").map(drop), "wants a date without quotes"),
        ("text for date", table.take_date("copies").map(drop), "wants a date without quotes"),
        ("list for table", table.take_table("mixed").map(drop), "wants a table, and got a list"),
        ("table for tables", table.take_tables("inner").map(drop), "write [[inner]]"),
        ("texts for tables", table.take_tables("name_patterns").map(drop), "write [[name_patterns]]"),
        ("no such word", table.take_choice("copies", &[("observed", 1)]).map(drop), "did you mean `observed`?"),
    ];
    for (case, taken, message) in cases {
        let problem = taken.unwrap_err();
        assert!(problem.message.contains(message), "case: {case}: {}", problem.message);
        assert!(!TEXT[problem.span.clone()].trim().is_empty(), "case: {case}: points at nothing");
    }
    assert_eq!(&TEXT[table.take_str("most").unwrap_err().span], "0x10");
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let table = SettingsTable::parse("[domains.x]", "copis = 1\nother_thing = 2\nknown = 3").unwrap();
    let problems = table.unknown_keys(&["copies", "known"]);
    let message: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        message,
        [
            "unknown key `copis` in [domains.x]; did you mean `copies`?",
            "unknown key `other_thing` in [domains.x]; known are copies, known",
        ]
    );
}

#[test]
fn text_that_is_no_toml_gives_all_its_problems() {
    let problems = SettingsTable::parse("[x]", "a = \nb = 1\nc = [1,\n").unwrap_err();
    assert!(problems.len() >= 2, "{problems:?}");
}
