//! A HostedCluster in full: its authentication, what is wrong with it, and the conditions that speak about it.

use serde_json::json;

use super::super::conditions::speaking_of_configuration;
use super::super::facts::AuthBlock;
use super::super::hosted_cluster::HostedContext;
use super::super::messages::hosted_cluster_summary;
use super::super::ruling::Ruling;
use super::super::verdict::Verdict;
use super::moot_fields;
use crate::evidence::versioned_line as line;
use crate::external_oidc::{spec_lines, spec_sides};
use trueup_core::engine::{Evidence, Explanation};

pub fn explain(context: &HostedContext<'_>, ruling: &Ruling) -> Explanation {
    let hosted = &context.cluster.hosted;
    let checked = context.checked().ok().flatten();
    let problems = checked.as_ref().map_or(&[][..], |checked| &checked.problems);
    let (mut expected, mut actual) = match &context.cluster.block {
        AuthBlock::Given(candidate) => spec_sides(&candidate.spec, problems),
        AuthBlock::TypeEmpty => {
            let side = |message: &str| json!({ "spec.configuration.authentication.type": message });
            (side(problems.first().map_or("", |problem| problem.remedy())), side(""))
        }
        AuthBlock::Absent | AuthBlock::Unreadable(_) => (json!({}), json!({})),
    };
    if ruling.verdict == Verdict::Degraded {
        let refused: Vec<String> = speaking_of_configuration(context).into_iter().map(|one| one.message).collect();
        expected["conditions"] = json!([]);
        actual["conditions"] = json!(refused);
    }
    Explanation {
        uid: Some(hosted.uid.clone()),
        created: None,
        summary: hosted_cluster_summary(context, checked.as_ref(), ruling),
        expected,
        actual,
        evidence: evidence(context, ruling),
        remedy: Vec::new(),
    }
}

fn evidence(context: &HostedContext<'_>, ruling: &Ruling) -> Vec<Evidence> {
    let object = format!("{} HostedCluster {}", context.by.cluster, context.key());
    let version = context.cluster.hosted.version.to_string();
    let mut lines = Vec::new();
    lines.extend(ruling.gap.as_ref().map(|gap| line(gap.message.to_string(), object.clone(), "", version.clone())));
    let kind = match &context.cluster.block {
        AuthBlock::Absent => "no authentication block: integrated OAuth".to_owned(),
        AuthBlock::TypeEmpty => "authentication type is empty".to_owned(),
        AuthBlock::Given(candidate) => format!("authentication type is {}", candidate.spec.kind.as_str()),
        AuthBlock::Unreadable(_) => "the authentication block cannot be read".to_owned(),
    };
    lines.push(line(kind, object.clone(), "spec.configuration.authentication.type", version.clone()));
    if let Ok(Some(checked)) = context.checked() {
        lines.extend(spec_lines(&checked, &object, &version));
    }
    if ruling.verdict == Verdict::Moot {
        let fields = moot_fields(ruling);
        lines.extend(fields.map(|(message, field)| line(message, object.clone(), field, version.clone())));
    }
    lines.extend(speaking_of_configuration(context));
    lines
}
