//! `trueup explain FINDING`: one finding in full.
//!
//! A finding is named by its id or a unique part of it, as kubectl spells an object (`secret/NAME -n NAMESPACE`), or by an
//! action of a saved plan (`a3 --plan FILE`). Accounts go by their number or their alias.
//!
//! Exit codes: 0 shown; 1 no finding or several match.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::borrow::Cow;

use jiff::Timestamp;

use super::args::{ExplainArgs, ExplainFormat, PlanArgs};
use super::context::Context;
use super::error::CliError;
use super::output::{self, Matches, Page};
use super::terminal::print;
use super::{apply, plan};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Finding, ObjectRef, Plan, Row, StreamedPlan};

const DOING: &str = "explain";

/// Candidates listed when the id does not match one finding.
const CANDIDATES_MAX: usize = 10;

/// Short names that kubectl knows, for the kinds that checks judge.
const SHORT_NAMES: [(&str, &str); 5] = [
    ("cm", "configmap"),
    ("crd", "customresourcedefinition"),
    ("deploy", "deployment"),
    ("ns", "namespace"),
    ("svc", "service"),
];

pub async fn run(context: &Context, args: &ExplainArgs) -> Result<u8, CliError> {
    match &args.plan {
        Some(file) => {
            let plan = apply::read(DOING, file)?;
            let findings: Vec<Named<'_>> = plan.findings.iter().map(Named::of).collect();
            let finding = &plan.findings[pick(&plan, &findings, args)?];
            print(&rendered(&page(context, &plan, Timestamp::now()), finding, None, args.format))?;
        }
        None => {
            let args_of_plan = PlanArgs { domains: named_check(context, &args.finding)?, ..PlanArgs::default() };
            let plan::Observed { fleet, updates: _updates, request, reading: _ } =
                plan::observe(context, &args_of_plan).await?;
            let (context, args) = (context.clone(), args.clone());
            let explain = move |plan: StreamedPlan<'_>, now: Timestamp| explained(&context, &plan, &args, now);
            let text = fleet.plan_streamed(request, explain).await.map_err(|error| CliError::operate(DOING, &error))?;
            print(&text?)?;
        }
    }
    Ok(0)
}

/// Explains the finding that is named, as it is in the fleet.
///
/// # Errors
/// No finding or several match.
pub fn explained(
    context: &Context,
    plan: &StreamedPlan<'_>,
    args: &ExplainArgs,
    now: Timestamp,
) -> Result<Printable, CliError> {
    let findings: Vec<Named<'_>> = plan.findings.rows.iter().map(Named::of_row).collect();
    let place = pick(plan, &findings, args)?;
    let (finding, created) = plan.findings.one(&plan.findings.rows[place]);
    Ok(rendered(&page(context, plan, now), &finding, created, args.format))
}

fn page<'p, F>(context: &Context, plan: &'p Plan<F>, now: Timestamp) -> Page<'p, F> {
    Page { plan, now, zone: context.zone(), terminal: context.terminal, matches: Matches::Listed }
}

/// What a finding is known by.
struct Named<'f> {
    id: &'f str,
    subject: Cow<'f, ObjectRef>,
    actions: &'f [String],
}

impl<'f> Named<'f> {
    fn of(finding: &'f Finding) -> Self {
        Self { id: &finding.id, subject: Cow::Borrowed(&finding.subject), actions: &finding.actions }
    }

    fn of_row(row: &'f Row<'_>) -> Self {
        Self { id: &row.id, subject: Cow::Owned(row.object()), actions: &row.actions }
    }
}

/// The check that a finding's id begins with: what the others need is not observed.
fn named_check(context: &Context, finding: &str) -> Result<Vec<String>, CliError> {
    let Some((first, _)) = finding.split_once('/') else { return Ok(Vec::new()) };
    let enabled = context.config()?.domains.0;
    let named = enabled.iter().map(|check| check.name().0).filter(|name| *name == first);
    Ok(named.map(str::to_owned).collect())
}

fn rendered<F>(page: &Page<'_, F>, finding: &Finding, created: Option<Timestamp>, format: ExplainFormat) -> Printable {
    Printable::styled(&match format {
        ExplainFormat::Table => output::explain_text(page, finding, created),
        ExplainFormat::Json => output::explain_json(page, finding),
    })
}

/// The place of the finding that is named: by its whole id, by an action of a saved plan, as kubectl spells an object, or
/// by a part of its id.
fn pick<F>(plan: &Plan<F>, findings: &[Named<'_>], args: &ExplainArgs) -> Result<usize, CliError> {
    let asked = with_account_numbers(plan, &args.finding);
    let exact = findings.iter().position(|finding| finding.id == asked);
    let of_action = || findings.iter().position(|finding| finding.actions.contains(&asked));
    if let Some(found) = exact.or_else(|| args.plan.as_ref().and_then(|_| of_action())) {
        return Ok(found);
    }
    let spelled = Spelled::parse(&asked);
    let is_meant = |finding: &Named<'_>| {
        let in_namespace = args.namespace.as_ref().is_none_or(|name| finding.subject.namespace.as_ref() == Some(name));
        let is_named = spelled.as_ref().is_some_and(|spelled| spelled.matches(&finding.subject));
        in_namespace && is_named
    };
    let places = |is_meant: &dyn Fn(&Named<'_>) -> bool| -> Vec<usize> {
        findings.iter().enumerate().filter(|(_, finding)| is_meant(finding)).map(|(place, _)| place).collect()
    };
    let mut candidates = places(&is_meant);
    if candidates.is_empty() && args.namespace.is_none() {
        candidates = places(&|finding| finding.id.contains(&asked));
    }
    match candidates.as_slice() {
        [one] => Ok(*one),
        [] => Err(no_match(findings, &args.finding)),
        many => Err(several_match(many.iter().map(|place| findings[*place].id).collect(), &args.finding)),
    }
}

/// The text with `ibm:<alias>` written as `ibm:<account number>`, as finding ids have it.
fn with_account_numbers<F>(plan: &Plan<F>, asked: &str) -> String {
    let accounts = plan.targets.iter().filter(|target| !target.identity.account.is_empty());
    let written = accounts.filter_map(|target| {
        let (cloud, _) = target.cluster.split_once(':')?;
        let place = asked.find(&target.cluster)?;
        let after = &asked[place + target.cluster.len()..];
        let is_whole = after.is_empty() || after.starts_with('/');
        is_whole.then(|| format!("{}{cloud}:{}{after}", &asked[..place], target.identity.account))
    });
    written.into_iter().next().unwrap_or_else(|| asked.to_owned())
}

/// An object as kubectl spells it: `secret/NAME`, `secrets/NAME`, `cm/NAME`, `machinesets.machine.openshift.io/NAME`.
struct Spelled {
    kind: String,
    group: Option<String>,
    name: String,
}

impl Spelled {
    fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once('/')?;
        if name.is_empty() || name.contains('/') {
            return None;
        }
        let (kind, group) = match kind.split_once('.') {
            Some((kind, group)) => (kind, Some(group.to_ascii_lowercase())),
            None => (kind, None),
        };
        let kind = kind.to_ascii_lowercase();
        let short = SHORT_NAMES.iter().find(|(short, _)| *short == kind);
        let kind = short.map_or(kind.clone(), |(_, long)| (*long).to_owned());
        Some(Self { kind, group, name: name.to_owned() })
    }

    fn matches(&self, subject: &ObjectRef) -> bool {
        let group = subject.api_version.split_once('/').map(|(group, _)| group);
        let kind = subject.kind.to_ascii_lowercase();
        let is_kind = self.kind == kind || plurals(&kind).contains(&self.kind);
        is_kind && subject.name == self.name && self.group.as_deref().is_none_or(|asked| group == Some(asked))
    }
}

/// The plural forms of a kind, as API servers spell them.
fn plurals(kind: &str) -> [String; 3] {
    let stem = kind.strip_suffix('y').unwrap_or(kind);
    [format!("{kind}s"), format!("{kind}es"), format!("{stem}ies")]
}

fn no_match(findings: &[Named<'_>], asked: &str) -> CliError {
    let nearest = trueup_fleet::connect::nearest_names(asked, findings.iter().map(|finding| finding.id));
    let hint = match nearest.is_empty() {
        true => "there are no findings; see trueup plan".to_owned(),
        false => format!("similar ids: {}", nearest.join(", ")),
    };
    CliError::usage(DOING, format!("no finding matches \"{asked}\""), hint)
}

fn several_match(many: Vec<&str>, asked: &str) -> CliError {
    let mut names: Vec<&str> = many.iter().take(CANDIDATES_MAX).copied().collect();
    if many.len() > CANDIDATES_MAX {
        names.push("...");
    }
    let cause = format!("{} findings match \"{asked}\"", many.len());
    CliError::usage(DOING, cause, format!("name one of: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_spelled_as_kubectl_does() {
        let finding = |api_version: &str, kind: &str, name: &str| -> Finding {
            serde_json::from_value(serde_json::json!({
                "id": "x", "domain": "d", "cluster": "c", "state": "match", "verdict": "v", "codes": [], "summary": "",
                "evidence": [], "expected": {}, "actual": {}, "actions": [],
                "subject": { "apiVersion": api_version, "kind": kind, "namespace": "n", "name": name, "uid": "u" },
            }))
            .unwrap()
        };
        let secret = finding("v1", "Secret", "old");
        let set = finding("machine.openshift.io/v1beta1", "MachineSet", "old");
        let cases = [
            ("secret/old", &secret, true),
            ("Secrets/old", &secret, true),
            ("secret/older", &secret, false),
            ("cm/old", &secret, false),
            ("machineset/old", &set, true),
            ("machinesets.machine.openshift.io/old", &set, true),
            ("machinesets.cluster.x-k8s.io/old", &set, false),
            ("n/secret/old", &secret, false),
            ("secret/", &secret, false),
        ];
        for (text, finding, expected) in cases {
            let found = Spelled::parse(text).is_some_and(|spelled| spelled.matches(&finding.subject));
            assert_eq!(found, expected, "case: {text} for {}", finding.subject.kind);
        }
        assert!(plurals("policy").contains(&"policies".to_owned()));
    }
}
