//! What compiles, to which type, what it gives, and that no text takes long.

#![expect(clippy::too_many_lines, reason = "tables of cases")]
#![expect(clippy::disallowed_methods, reason = "the test measures real time")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn compiled(expression: &str, scope: Scope) -> Result<String, CelError> {
    Program::compile(expression, scope).map(|program| program.result())
}

#[test]
fn claims_compile_to_the_types_upstream_gives_them() {
    let cases = [
        ("claims", "map(string, any)"),
        ("claims.email", "any"),
        ("claims.a.b", "dyn"),
        ("claims['email']", "any"),
        (".claims.x", "any"),
        ("claims.if", "any"),
        ("has(claims.a.b)", "bool"),
        ("claims.?email", "optional_type(any)"),
        ("claims.?email.orValue('x')", "any"),
        ("claims.?a.b", "optional_type(dyn)"),
        ("claims.?a.optMap(x, x + 'a')", "optional_type(string)"),
        ("claims.roles.split(',')", "list(string)"),
        ("claims.roles.split(',')[0]", "string"),
        ("claims.a.roles.map(r, 'p:' + r)", "list(string)"),
        ("claims.a.roles.filter(r, r != '')", "list(dyn)"),
        ("claims.a.roles.all(r, r.startsWith('x'))", "bool"),
        ("claims.a.b.transformMap(k, v, v)", "map(dyn, dyn)"),
        ("claims.a.b.all(k, v, k != v)", "bool"),
        ("[[], [1]]", "list(list(int))"),
        ("[claims.x, claims.y]", "list(any)"),
        ("claims.exp - claims.iat", "dyn"),
        ("claims.exp - claims.iat <= 3600.0", "bool"),
        ("claims.x == true ? claims.y : 1", "any"),
        ("claims.b == true && claims.c", "bool"),
        ("'x' in claims.roles", "bool"),
        ("claims.x in ['a', 'b']", "bool"),
        ("dyn(claims.groups).map(g, 'x:' + g)", "list(string)"),
        ("type(claims.x) == string", "bool"),
        ("'%s is %d'.format(['a', 1])", "string"),
        ("[3, 1].sortBy(x, x)", "list(int)"),
        ("lists.range(3).sum()", "int"),
        ("url('https://x').getHost()", "string"),
        ("quantity('1Gi').isGreaterThan(quantity('1Mi'))", "bool"),
        ("timestamp('2020-01-01T00:00:00Z') - duration('1h')", "google.protobuf.Timestamp"),
        ("optional.none()", "optional_type(dyn)"),
        ("[?claims.?a, claims.b]", "list(any)"),
        ("1 < 2.0", "bool"),
        ("-9223372036854775808", "int"),
        ("b'\\xff' + b'a'", "bytes"),
        ("r'\\d' + \"\"\"a\nb\"\"\"", "string"),
        ("true // and why", "bool"),
        ("[1,]", "list(int)"),
        ("--1", "int"),
        ("null == claims.x", "bool"),
    ];
    for (expression, expected) in cases {
        assert_eq!(compiled(expression, Scope::Claims), Ok(expected.to_owned()), "{expression}");
    }
}

#[test]
fn what_upstream_refuses_does_not_compile() {
    let expressions = [
        // A claim is `any`: nothing loops over it, and it stands beside nothing else in a literal.
        "claims.roles.filter(r, true)",
        "claims.roles.map(r, r)",
        "['a', claims.x]",
        "['a', claims.a.b]",
        "{'a': claims.x, 'b': 'c'}",
        "[1, 'a']",
        "[1, 2.0]",
        "[?claims.x]",
        "user.username",
        "foo",
        "claims.in",
        "if",
        "claims.x.foo()",
        "claims.x.reverse() + 'abc'.reverse()",
        "1 + 'a'",
        "1 + 1.0",
        "1 == 'a'",
        "1 == 1.0",
        "'a' < 1",
        "claims == {1: 2} ? 1 : 'a'",
        "true ? 1 : 'a'",
        "has(claims)",
        "has(claims['x'])",
        "[1].all(x.y, true)",
        "[1].all(x, x)",
        "[1].all(x, x, true)",
        "optional.of(1).orValue('a')",
        "claims.?a.optFlatMap(x, 1)",
        "claims.x.matches('[')",
        "matches('a', '(')",
        "claims.x.find('(')",
        "duration('1x')",
        "timestamp('yesterday')",
        "int('x')",
        "int(dyn('x'))",
        "uint(-1)",
        "'%d'.format(['a'])",
        "'%s'.format([claims.x])",
        "'%s'.format(['a', 'b'])",
        "'%q'.format(['a'])",
        "claims.x[null]",
        "claims.x[[1]]",
        "{b'a': 1}",
        "9223372036854775808",
        "1e400",
        "'\\q'",
        "'\\ud800'",
        "'a\nb'",
        "'a",
        "1 +",
        "(1",
        "1)",
        "a ? b",
        "claims.`a-b`",
        "!-claims.x",
        "cel.bind(x, 1, x)",
        "math.greatest(1, 2)",
        "Foo{}",
        "size(1)",
        "",
        "// nothing",
        "claims & claims",
        "\u{201c}a\u{201d}",
    ];
    for expression in expressions {
        assert!(
            matches!(compiled(expression, Scope::Claims), Err(CelError::Wrong(_))),
            "{expression}: {:?}",
            compiled(expression, Scope::Claims)
        );
    }
}

#[test]
fn users_have_four_fields() {
    let takes = [
        ("user.username", "string"),
        ("user.groups", "list(string)"),
        ("user.extra", "map(string, list(string))"),
        ("!user.username.startsWith('system:')", "bool"),
        ("user.groups.all(g, !g.startsWith('system:'))", "bool"),
        ("'a' in user.groups && 'k' in user.extra", "bool"),
        ("user.?uid.orValue('') != ''", "bool"),
    ];
    for (expression, expected) in takes {
        assert_eq!(compiled(expression, Scope::User), Ok(expected.to_owned()), "{expression}");
    }
    for expression in
        ["user.name", "has(user.name)", "claims.x", "user.username == 1", "user['username']", "user.groups + [1]"]
    {
        assert!(matches!(compiled(expression, Scope::User), Err(CelError::Wrong(_))), "{expression}");
    }
}

#[test]
fn an_undecidable_expression_is_reported_as_undecidable() {
    let nested = format!("{}1{}", "(".repeat(200), ")".repeat(200));
    let long = format!("claims.{}", "a".repeat(1100));
    for expression in ["google.protobuf.Duration{}", &nested, &long, "claims.x.matches('((a{30}){30}){30}')"] {
        assert!(matches!(compiled(expression, Scope::Claims), Err(CelError::NotVerifiable(_))), "{expression}");
    }
}

#[test]
fn nesting_ends_where_upstream_ends_it() {
    let cases = [
        ("selections", format!("claims{}", ".a".repeat(250)), true),
        ("selections", format!("claims{}", ".a".repeat(251)), false),
        ("sums", vec!["1"; 251].join("+"), true),
        ("sums", vec!["1"; 252].join("+"), false),
        ("comparisons", format!("{}true", "true==".repeat(160)), true),
        ("choices", format!("{}2", "true?1:".repeat(140)), true),
        ("brackets", format!("{}1{}", "(".repeat(120), ")".repeat(120)), true),
        ("brackets", format!("{}1{}", "(".repeat(250), ")".repeat(250)), false),
        ("lists", "[".repeat(512), false),
        ("signs", format!("{}true", "!".repeat(1000)), true),
        ("ands", vec!["true"; 170].join("&&"), true),
    ];
    for (case, expression, compiles) in cases {
        let found = Program::compile(&expression, Scope::Claims);
        assert_eq!(found.is_ok(), compiles, "{case}: {:?}", found.map(|program| program.result()));
    }
}

fn evaluated(expression: &str, claims: &Json) -> Result<Json, Fault> {
    let program = Program::compile(expression, Scope::Claims).unwrap_or_else(|error| panic!("{expression}: {error:?}"));
    let claims = claims.as_object().expect("claims are an object");
    program.evaluate(&Value::claims(claims)).map(|value| shown(&value))
}

/// A value as JSON, where it has one.
fn shown(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Uint(value) => json!(value),
        Value::Double(value) => json!(value),
        Value::String(text) => json!(text.as_ref()),
        Value::List(list) => list.items.iter().map(shown).collect(),
        Value::Optional(value) => json!({"optional": value.as_ref().map(|value| shown(value))}),
        Value::Bytes(_) | Value::Map(_) | Value::Type(_) => json!(value.type_name()),
    }
}

#[test]
fn expressions_give_what_upstream_gives() {
    let claims = json!({
        "sub": "123", "email": "jane@example.com", "n": 3, "f": 1.5, "big": 1_700_000_000, "no": null, "roles": "a,b,,c",
        "a": {"b": {"c": "deep"}, "roles": ["x:1", "y:2", "x:3"], "empty": [], "k.v": "dotted"}, "list": ["p", "q"],
    });
    let cases = [
        ("claims.email.split('@')[0]", json!("jane")),
        ("claims.a.b.c", json!("deep")),
        ("claims.a.k__dot__v", json!("dotted")),
        ("claims.n == 3 && claims.n > 2 && claims.n < 4u", json!(true)),
        ("claims.n + 1.0", json!(4.0)),
        ("string(claims.n)", json!("3")),
        ("string(claims.big)", json!("1.7e+09")),
        ("string(int(claims.big))", json!("1700000000")),
        ("int(claims.f)", json!(1)),
        ("claims.roles.split(',')", json!(["a", "b", "", "c"])),
        ("claims.roles.split(',', 2)", json!(["a", "b,,c"])),
        ("claims.roles.split(',').filter(r, r != '').join('+')", json!("a+b+c")),
        ("claims.a.roles.filter(r, r.startsWith('x:')).map(r, r.substring(2))", json!(["1", "3"])),
        ("claims.a.roles.map(r, r != 'y:2', r.upperAscii())", json!(["X:1", "X:3"])),
        ("claims.a.roles.exists(r, r == 'y:2')", json!(true)),
        ("claims.a.roles.exists_one(r, r.startsWith('x'))", json!(false)),
        ("claims.a.empty.all(r, false)", json!(true)),
        ("claims.?missing.orValue('none')", json!("none")),
        ("claims.?a.?b.?c.orValue('none')", json!("deep")),
        ("claims.email.orValue('none')", json!("jane@example.com")),
        ("claims.email[?0].orValue('none')", json!("none")),
        ("claims.?a.?z.?c", json!({"optional": null})),
        ("claims.?email.optMap(e, e.endsWith('.com'))", json!({"optional": true})),
        ("has(claims.email) ? 'y' : 'n'", json!("y")),
        ("has(claims.missing) ? 'y' : 'n'", json!("n")),
        ("has(claims.email.x)", json!(false)),
        ("claims.no == null", json!(true)),
        ("claims.email == 1", json!(false)),
        ("'p' in claims.list", json!(true)),
        ("claims.list[1]", json!("q")),
        ("claims.list[1.0]", json!("q")),
        ("claims[?'missing']", json!({"optional": null})),
        ("false && claims.missing == 1", json!(false)),
        ("claims.missing == 1 || true", json!(true)),
        ("claims.email.matches('^[a-z]+@example[.]com$')", json!(true)),
        ("claims.email.find('[a-z]+')", json!("jane")),
        ("claims.email.findAll('[a-z]+', 2)", json!(["jane", "example"])),
        ("claims.email.replace('e', 'E', 2)", json!("janE@Example.com")),
        ("claims.email.indexOf('e', 4)", json!(5)),
        ("claims.email.lastIndexOf('e')", json!(11)),
        ("'häß'.charAt(1) + string(size('häß'))", json!("ä3")),
        ("'  x '.trim()", json!("x")),
        ("[3, 1, 2].sort()", json!([1, 2, 3])),
        ("['b', 'a'].sortBy(x, x)[0]", json!("a")),
        ("[1, 2, 2, 3].distinct().reverse()", json!([3, 2, 1])),
        ("[[1], [2, 3]].flatten()", json!([1, 2, 3])),
        ("[1, 2, 3].slice(1, 3)", json!([2, 3])),
        ("lists.range(3).map(i, i * i)", json!([0, 1, 4])),
        ("sets.contains(['a', 'b'], ['b'])", json!(true)),
        ("{'x': 1}.x + {'x': 1}['x']", json!(2)),
        ("{'a': 1, 'b': 2}.transformList(k, v, v > 1, k)", json!(["b"])),
        ("['a', 'b'].transformList(i, v, string(i) + v)", json!(["0a", "1b"])),
        ("7 / 2 + 7 % 2", json!(4)),
        ("type(claims.n) == double", json!(true)),
        ("isURL(claims.email)", json!(false)),
        ("'%s is %d%%'.format([claims.a.b.c, 5])", json!("deep is 5%")),
        ("optional.ofNonZeroValue('').or(optional.of('x')).value()", json!("x")),
        ("[?claims.?missing, claims.email]", json!(["jane@example.com"])),
        ("bool('true') && string(true) == 'true'", json!(true)),
    ];
    for (expression, expected) in cases {
        assert_eq!(evaluated(expression, &claims), Ok(expected), "{expression}");
    }
}

#[test]
fn what_has_no_value_is_an_error_and_not_a_guess() {
    let claims = json!({"s": "x", "n": 1, "l": ["a"], "m": {"k": "v"}});
    let errors = [
        "claims.missing",
        "claims.s.x",
        "has(claims.missing.x)",
        "claims.n + 1",
        "claims.s < 1",
        "claims.s ? 1 : 2",
        "claims.s && true",
        "claims.l[1]",
        "claims.l['a']",
        "claims.m.l.all(x, true)",
        "claims.s[0]",
        "1 / 0",
        "9223372036854775807 + 1",
        "int(claims.s)",
        "claims.s.substring(2, 1)",
        "claims.s.charAt(5)",
        "[1].slice(0, 2)",
        "claims.?missing.value()",
        "claims.s.matches(claims.s + '(')",
        "'email' in claims",
        "size(claims)",
        "claims.l.join(1 > 0 ? claims.n : claims.n)",
    ];
    for expression in errors {
        assert!(
            matches!(evaluated(expression, &claims), Err(Fault::Error(_))),
            "{expression}: {:?}",
            evaluated(expression, &claims)
        );
    }
    let unknown = [
        "ip(claims.s).family() == 4",
        "cidr('10.0.0.0/8').containsIP(claims.s)",
        "isIP(claims.s)",
        "timestamp(claims.s) < timestamp('2026-01-01T00:00:00Z')",
        "duration(claims.s) > duration('1h')",
        "timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
        "quantity(claims.s).isGreaterThan(quantity('1Gi'))",
        "isQuantity(claims.s)",
        "semver(claims.s).major() == 1",
        "claims == {}",
        "url(claims.s).getHost()",
        "strings.quote(claims.s)",
    ];
    for expression in unknown {
        assert!(
            matches!(evaluated(expression, &claims), Err(Fault::NotVerifiable(_))),
            "{expression}: {:?}",
            evaluated(expression, &claims)
        );
    }
}

#[test]
fn no_expression_works_for_ever() {
    let many: Vec<Json> = (0..500).map(|n| json!(format!("group-{n}"))).collect();
    let claims = json!({"a": {"l": many}, "s": "a".repeat(50_000)});
    let expressions = [
        "claims.a.l.all(x, claims.a.l.all(y, claims.a.l.all(z, claims.a.l.all(w, x + y + z + w != ''))))",
        "lists.range(1000000000).size() > 0",
        "claims.a.l.map(x, claims.a.l.map(y, claims.a.l)).size() > 0",
        "claims.a.l.all(x, claims.s.matches('(a*)*b' + x))",
        "lists.range(60).map(i, claims.s.replace('a', claims.s)).size() > 0",
        "claims.s.matches('^(a+)+$') && !claims.s.matches('^(a|a)*b$')",
    ];
    for expression in expressions {
        let started = Instant::now();
        let _ = evaluated(expression, &claims);
        // Debug builds are slow and machines are shared; without a budget these take hours or all memory.
        assert!(started.elapsed() < Duration::from_secs(60), "{expression}: {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_compiler_fall_over(text in "\\PC{0,80}") {
        let _ = Program::compile(&text, Scope::Claims);
    }

    #[test]
    fn no_row_of_words_makes_the_compiler_fall_over(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let text = words.join(" ");
        if let Ok(program) = Program::compile(&text, Scope::Claims) {
            let claims = json!({"x": "a,b", "a": {"b": ["c", 1, null]}, "n": 2});
            let _ = program.evaluate(&Value::claims(claims.as_object().unwrap()));
        }
    }

    #[test]
    fn whatever_compiles_to_a_bool_gives_a_bool_or_nothing(words in prop::collection::vec(prop::sample::select(WORDS), 1..12)) {
        let text = words.join(" ");
        if let Ok(program) = Program::compile(&text, Scope::Claims) && program.is_bool() {
            let claims = json!({"x": "a,b", "a": {"b": ["c", 1, null]}, "n": 2});
            let found = program.evaluate(&Value::claims(claims.as_object().unwrap()));
            prop_assert!(matches!(found, Ok(Value::Bool(_)) | Err(_)), "{text}: {found:?}");
        }
    }

    #[test]
    fn no_pattern_makes_the_rewriting_fall_over(text in "[\\[\\]\\\\(){}|*+?^$.a-c0-9:pPQExd,<>!=&~-]{0,24}") {
        if let Ok(regex) = pattern::compile(&text) {
            let _ = regex.is_match("aabbcc[(.");
        }
    }
}

/// Words that meet often enough to make sense now and then.
const WORDS: &[&str] = &[
    "claims",
    "claims.x",
    "claims.a.b",
    "claims.?x",
    "'a'",
    "1",
    "2.0",
    "3u",
    "true",
    "null",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ".",
    "?",
    ":",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">=",
    "in",
    "&&",
    "||",
    "!",
    "has(claims.x)",
    ".size()",
    ".map(y, y)",
    ".filter(y,",
    ".all(y,",
    ".orValue(",
    ".split(',')",
    ".matches('a')",
    "[0]",
    "[?0]",
    ".?b",
    "y",
];
