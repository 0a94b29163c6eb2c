//! The findings as SARIF 2.1.0: a rule per verdict, a result per finding that does not match.
//!
//! Invariants: valid against the published schema; text from clusters is no link and no placeholder.
//!
//! `unknown` has the kind `open` (not enough information to decide), for which SARIF allows no level.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::vocabulary::kubectl_name;
use super::{FindingSource, Page};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Evidence, Finding, Plan, State};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Passes the document to `write`, in parts.
///
/// # Errors
/// That of `write`.
pub fn sarif<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    let mut rules: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for brief in page.plan.findings.brief().filter(|brief| page.lists(brief.state)) {
        rules.insert((brief.check, brief.verdict), 0);
    }
    rules.values_mut().enumerate().for_each(|(place, index)| *index = place);
    write(&head(page.plan, &rules))?;
    let mut is_first = true;
    page.plan.findings.each(
        |state| page.lists(state),
        |finding, _| {
            let rule = rules.get(&(finding.domain.as_str(), finding.verdict.as_str())).copied();
            result(&finding, rule).to_string()
        },
        |text| {
            let gap = if std::mem::take(&mut is_first) { "\n" } else { ",\n" };
            write(&Printable::json(&format!("{gap}        {text}")))
        },
    )?;
    write(&Printable::json("\n      ]\n    }\n  ]\n}\n"))
}

fn head<F>(plan: &Plan<F>, rules: &BTreeMap<(&str, &str), usize>) -> Printable {
    let rule = |(check, verdict): &(&str, &str)| {
        let text = format!("{verdict} ({check})");
        json!({ "id": rule_id(check, verdict), "name": verdict, "shortDescription": { "text": text },
            "properties": { "check": check } })
    };
    let rules: Vec<Value> = rules.keys().map(rule).collect();
    let engine = &plan.engine;
    let tool = json!({ "driver": { "name": "trueup", "version": engine, "semanticVersion": engine, "rules": rules } });
    let details = json!({ "id": format!("trueup/{}", plan.id) });
    let run = json!([{ "executionSuccessful": true, "endTimeUtc": plan.created_at }]);
    Printable::json(&format!(
        "{{\n  \"$schema\": \"{SCHEMA}\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {{\n      \"tool\": {tool},\n      \
         \"automationDetails\": {details},\n      \"invocations\": {run},\n      \"results\": ["
    ))
}

fn rule_id(check: &str, verdict: &str) -> String {
    format!("{check}/{verdict}")
}

fn result(finding: &Finding, rule: Option<usize>) -> Value {
    let Finding { id, domain, cluster, subject, state, verdict, codes, summary, evidence, actions, accepted, .. } =
        finding;
    let (kind, level) = kind_and_level(*state);
    let home = if cluster.is_empty() { domain } else { cluster };
    let mut location = json!({ "name": subject.name, "kind": "object",
        "fullyQualifiedName": format!("{home}/{}", object_path(finding)) });
    if let Some(namespace) = &subject.namespace {
        location["properties"] = json!({ "namespace": namespace });
    }
    let mut result = json!({
        "ruleId": rule_id(domain, verdict),
        "kind": kind,
        "level": level,
        "message": { "text": message(summary) },
        "locations": [{ "logicalLocations": [location] }],
        "partialFingerprints": { "finding/v1": id },
        "properties": { "check": domain, "cluster": cluster, "state": state, "codes": codes, "actions": actions },
    });
    if let Some(rule) = rule {
        result["ruleIndex"] = json!(rule);
    }
    if let Some(accepted) = accepted {
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": accepted.reason }]);
    }
    if !evidence.is_empty() {
        result["relatedLocations"] = evidence.iter().zip(0..).map(related_location).collect();
    }
    result
}

fn object_path(finding: &Finding) -> String {
    let name = kubectl_name(&finding.subject);
    match &finding.subject.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name,
    }
}

fn related_location((evidence, number): (&Evidence, usize)) -> Value {
    let place = [evidence.object.as_str(), evidence.field.as_str()].join(" ");
    json!({ "id": number, "message": { "text": message(&evidence.message) },
        "logicalLocations": [{ "fullyQualifiedName": place.trim() }] })
}

fn kind_and_level(state: State) -> (&'static str, &'static str) {
    match state {
        State::Match => ("pass", "none"),
        State::Unknown => ("open", "none"),
        State::Error => ("fail", "error"),
        State::Missing | State::Extra | State::Drift | State::Stale => ("fail", "warning"),
        State::Blocked => ("fail", "note"),
    }
}

/// Text that SARIF shows as it is: no `{0}`, and no `[link](target)`.
fn message(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}").replace("](", "\\](")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_no_placeholders_and_no_links() {
        let cases = [
            ("plain", "type is OIDC", "type is OIDC"),
            ("a placeholder", "{0} of {1}", "{{0}} of {{1}}"),
            ("a link", "[x](https://evil.example)", "[x\\](https://evil.example)"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(message(text), expected, "case: {case}");
        }
    }
}
