//! Which findings a plan is about, as kubectl users say it: `secrets`, `ms/workers`, `--field-selector`.
//!
//! Invariants: what is misspelt is an error: an empty plan would say that all is as expected.
//!
//! Elsewhere: patterns and selectors (`engine::selector`), the patterns of `--cluster` and `--namespace` (`plan`).

use super::args::PlanArgs;
use super::error::CliError;
use trueup_core::engine::{FieldSelector, ObjectPattern, PlanScope};
use trueup_fleet::live::Live;
use trueup_operate::{Fleet, OperateError};

const SELECTOR: &str = "--field-selector";

/// The objects that the arguments name.
///
/// # Errors
/// One is not spelled as kubectl spells objects.
pub fn objects(asked: &[String]) -> Result<Vec<ObjectPattern>, CliError> {
    let parsed = asked.iter().map(|text| ObjectPattern::parse(text));
    parsed.collect::<Result<_, _>>().map_err(|error| CliError::usage("plan", error.to_string(), ""))
}

/// The field selector. There are no label selectors: an object's facts are the fields that its check judges.
///
/// # Errors
/// It is not understood, or labels are selected.
pub fn fields(args: &PlanArgs) -> Result<FieldSelector, CliError> {
    if let Some(labels) = &args.selector {
        let cause = format!("labels of objects are not kept, so {labels} cannot be judged");
        return Err(CliError::usage("--selector", cause, "use --field-selector, --namespace or KIND/NAME"));
    }
    FieldSelector::parse(args.field_selector.as_deref().unwrap_or_default())
        .map_err(|error| CliError::usage(SELECTOR, error.to_string(), ""))
}

/// Requires that there is a subject for each object and each field that the command line names.
///
/// # Errors
/// There is none.
pub async fn require_matches(fleet: &Fleet, args: &PlanArgs, scope: &PlanScope) -> Result<(), CliError> {
    let (objects, fields) = (scope.objects.clone(), scope.fields.clone());
    let unmatched = move |live: &Live| {
        let subjects = || live.judgements().iter().map(|(subject, _)| subject);
        let object = objects.iter().position(|pattern| !subjects().any(|subject| pattern.matches_subject(subject)));
        let is_held = |subject| move |field: &trueup_core::engine::Requirement| field.holds_for(subject) == Some(true);
        let field = fields.of_subjects().find(|field| !subjects().any(|subject| is_held(subject)(field)));
        (object, field.map(ToString::to_string))
    };
    let (object, field) =
        fleet.ask(unmatched).await.map_err(|error: OperateError| CliError::operate("plan", &error))?;
    let hint = "list findings with trueup plan -o name -v";
    if let Some(place) = object {
        return Err(CliError::usage("plan", format!("no finding is about {}", args.objects[place]), hint));
    }
    match field {
        Some(field) => Err(CliError::usage(SELECTOR, format!("no finding has {field}"), hint)),
        None => Ok(()),
    }
}
