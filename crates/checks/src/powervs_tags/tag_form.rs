//! The question a person may ask before tags are edited: what would these change?
//!
//! Invariants: nothing is written; a tag the cloud would refuse is named with its fault and is in no command.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::claimant::Claimant;
use super::context::CheckContext;
use super::explain::seen_from;
use super::facts::UserTagsIn;
use super::names::{POWERVS_CLUSTER, USER_TAGS};
use super::remedy::user_tags_if;
use super::subjects::ResolvedSubject;
use super::tags::TagScheme;
use crate::{Form, FormInput};
use trueup_core::engine::text::{Printable, ShellCommand};

pub const FORM: Form = Form {
    name: "tags",
    title: "What would these user tags change?",
    prompt: "all of them, as key:value, key:value",
    input: FormInput::Plain,
};

/// The answer, line by line.
pub fn answer(context: &CheckContext<'_>, subject: &ResolvedSubject, typed: &str) -> Vec<String> {
    let Some(claimant) = seen_from(context, subject) else {
        return vec!["no cluster refers to it: user tags do not apply".to_owned()];
    };
    if claimant.fact.is_going() {
        return vec![format!("{} is being deleted: its resources get no tags", claimant.key)];
    }
    let (pairs, mut lines) = read(typed, context.scheme());
    let wanted: Vec<String> = pairs.iter().map(|pair| pair.tag.clone()).collect();
    let before = lines.len();
    for seen in context.subjects.values() {
        if !seen_from(context, seen).is_some_and(|other| std::ptr::eq(other, claimant)) {
            continue;
        }
        let (on, off) = user_tags_if(context, seen, &wanted);
        lines.extend(changed(context, seen, &on, &off));
    }
    if lines.len() == before {
        lines.push(format!("nothing of {} would change", claimant.key));
        return lines;
    }
    lines.push(format!("on {}: {}", claimant.site.name, command(claimant, &pairs)));
    lines
}

/// What a person typed for one tag, and the tag the cloud would keep.
struct Pair {
    key: String,
    value: String,
    tag: String,
}

/// The pairs that can be tags, and a line for each that can't.
fn read(typed: &str, scheme: &TagScheme) -> (Vec<Pair>, Vec<String>) {
    let (mut pairs, mut refused) = (Vec::new(), Vec::new());
    for text in typed.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let (key, value) = text.split_once(':').unwrap_or((text, ""));
        match scheme.join(key, value) {
            Ok(tag) => pairs.push(Pair { key: key.trim().to_owned(), value: value.trim().to_owned(), tag }),
            Err(fault) => {
                let codes: Vec<&str> = fault.codes.iter().map(|code| code.as_str()).collect();
                refused.push(format!("{text} would be refused: {}", codes.join(", ")));
            }
        }
    }
    (pairs, refused)
}

fn changed(context: &CheckContext<'_>, subject: &ResolvedSubject, on: &[String], off: &[String]) -> Option<String> {
    let ResolvedSubject::Resource { account, item, .. } = *subject else { return None };
    if on.is_empty() && off.is_empty() {
        return None;
    }
    let mut line = context.described(account, item);
    for (sign, tags) in [('+', on), ('-', off)] {
        for tag in tags {
            write!(line, " {sign}{tag}").expect("writing to a string does not fail");
        }
    }
    Some(line)
}

/// The one command that writes the wish down. What is attached from it is remembered when it is applied.
fn command(claimant: &Claimant<'_>, pairs: &[Pair]) -> Printable {
    let of_claimant = |verb: &'static str| {
        let command = ShellCommand::new(verb).operand(POWERVS_CLUSTER.plural);
        command.option("-n", claimant.namespace()).operand(claimant.name())
    };
    match claimant.fact.user_tags_in {
        UserTagsIn::Annotation => {
            let map: serde_json::Map<String, Value> =
                pairs.iter().map(|pair| (pair.key.clone(), json!(pair.value))).collect();
            of_claimant("kubectl annotate")
                .words("--overwrite")
                .operand(&format!("{USER_TAGS}={}", Value::Object(map)))
                .line()
        }
        UserTagsIn::Spec => {
            let list: Vec<Value> = pairs.iter().map(|pair| json!({ "key": pair.key, "value": pair.value })).collect();
            let patch = json!({ "spec": { "tags": list } });
            of_claimant("kubectl patch").words("--type merge").option("-p", &patch.to_string()).line()
        }
    }
}
