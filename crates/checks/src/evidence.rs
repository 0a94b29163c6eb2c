//! Lines of evidence, and the explanation of a collection that is not known completely.

use serde_json::json;

use trueup_core::engine::{Evidence, Explanation};
use trueup_core::world::{Gap, Resource};

/// A line read from an object whose version is not kept.
pub fn line(message: String, object: String, field: &str) -> Evidence {
    versioned_line(message, object, field, String::new())
}

pub fn versioned_line(message: String, object: String, field: &str, resource_version: String) -> Evidence {
    Evidence { message, object, field: field.to_owned(), resource_version }
}

/// An explanation without an object: a summary, and the one line it rests on.
pub fn bare(summary: String, evidence: Evidence) -> Explanation {
    Explanation {
        uid: None,
        created: None,
        summary,
        expected: json!({}),
        actual: json!({}),
        evidence: vec![evidence],
        remedy: Vec::new(),
    }
}

/// A collection of subjects that is not known completely; `subjects` names them in the plural.
pub fn incomplete(subjects: &str, cluster: &str, resource: &Resource, gap: &Gap) -> Explanation {
    let evidence = line(gap.message.to_string(), format!("{cluster} {} *", resource.kind), "");
    let mut explanation = bare(format!("which {subjects} there are is not known completely: {gap}"), evidence);
    explanation.evidence.push(Evidence::advice("run trueup doctor: it names what could not be read"));
    explanation
}

/// The last part of a summary says who has to do what, where no action of ours does.
const ADVICE_AFTER: &str = "; ";

/// Adds who has to do what to an explanation without actions that does not say it in a line of its own.
pub fn advise(explanation: &mut Explanation) {
    if !explanation.remedy.is_empty() || explanation.evidence.iter().any(Evidence::is_advice) {
        return;
    }
    if let Some((_, advice)) = explanation.summary.rsplit_once(ADVICE_AFTER) {
        explanation.evidence.push(Evidence::advice(advice));
    }
}
