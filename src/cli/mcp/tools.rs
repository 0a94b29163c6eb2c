//! The tools of `trueup mcp`: names, descriptions, and what they take.
//!
//! Invariants: an argument that a tool does not know is an error; no argument is a path.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::findings::{PAGE, PAGE_MAX};
use trueup_core::engine::State;

const FINDINGS: &str = "list_findings";
const EXPLAIN: &str = "explain_finding";
const PLAN: &str = "make_plan";

/// A call with its arguments.
#[derive(Debug, PartialEq)]
pub enum Call {
    Findings(FindingsCall),
    Explain(ExplainCall),
    Plan(PlanCall),
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FindingsCall {
    pub checks: Vec<String>,
    pub clusters: Vec<String>,
    /// Empty: every state but match.
    pub states: Vec<State>,
    /// Findings to skip.
    pub from: usize,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainCall {
    pub finding: String,
    pub namespace: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanCall {
    /// The name of the new file.
    pub file: String,
    #[serde(default)]
    pub checks: Vec<String>,
    #[serde(default)]
    pub clusters: Vec<String>,
    #[serde(default)]
    pub namespaces: Vec<String>,
    pub valid_for: Option<String>,
}

impl Call {
    /// Reads a call. Nothing when there is no such tool.
    pub fn parse(name: &str, arguments: JsonObject) -> Option<Result<Self, serde_json::Error>> {
        match name {
            FINDINGS => Some(read(arguments).map(Self::Findings)),
            EXPLAIN => Some(read(arguments).map(Self::Explain)),
            PLAN => Some(read(arguments).map(Self::Plan)),
            _ => None,
        }
    }
}

fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, serde_json::Error> {
    serde_json::from_value(Value::Object(arguments))
}

/// The tools a client is offered.
pub fn offered(writes_plans: bool) -> Vec<Tool> {
    let mut tools = vec![findings(), explain()];
    tools.extend(writes_plans.then(plan));
    tools
}

fn findings() -> Tool {
    let properties = json!({
        "checks": patterns("Only findings of these checks, such as hosted-oidc"),
        "clusters": patterns("Only findings of these clusters"),
        "states": {
            "type": "array",
            "items": { "type": "string", "enum": State::ALL.map(State::as_str) },
            "description": "Only findings in these states; without it, every state but match",
        },
        "from": { "type": "integer", "minimum": 0, "default": 0, "description": "Findings to skip: `next` of the page before" },
        "limit": { "type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": PAGE, "description": "Findings per page" },
    });
    let text = "List findings of the fleet, sorted by id, with the number of findings in each state. `complete` is false \
        when something could not be read; what is not listed is then not proven to be absent.";
    tool(FINDINGS, text, properties, &[], observes())
}

fn explain() -> Tool {
    let properties = json!({
        "finding": { "type": "string", "description": "The id of a finding or a unique part of it, or KIND/NAME" },
        "namespace": { "type": "string", "description": "The namespace of KIND/NAME" },
    });
    let text = "Explain one finding: the expected and the actual state, evidence with object and field, and the actions \
        that would fix it with their tier and what blocks them. Values of Secrets are shown as their length.";
    tool(EXPLAIN, text, properties, &["finding"], observes())
}

fn plan() -> Tool {
    let properties = json!({
        "file": { "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*\\.json$", "maxLength": super::plan_file::NAME_MAX,
            "description": "The name of the new plan file, without a folder; an existing file is never replaced" },
        "checks": patterns("Only these checks"),
        "clusters": patterns("Only these clusters"),
        "namespaces": patterns("Only these namespaces"),
        "valid_for": { "type": "string", "description": "How long the plan can be applied, such as 3d; at most plan_ttl_max of the config" },
    });
    let text = "Write a plan of the fixes into a new file and return its id, its tiers and the command for a person to \
        review and approve it. Changes nothing in any cluster. Only a person applies a plan.";
    let annotations = ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(true);
    tool(PLAN, text, properties, &["file"], annotations)
}

/// The hints of a tool that writes nothing. Clusters are outside of what it controls.
fn observes() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(true)
}

fn patterns(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": format!("{description}; patterns with *") })
}

fn tool(
    name: &'static str,
    description: &'static str,
    properties: Value,
    required: &[&str],
    annotations: ToolAnnotations,
) -> Tool {
    let schema = JsonObject::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties),
        ("required".to_owned(), json!(required)),
        ("additionalProperties".to_owned(), json!(false)),
    ]);
    Tool::new(name, description, schema).with_annotations(annotations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, arguments: Value) -> Option<Result<Call, String>> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        Call::parse(name, arguments).map(|call| call.map_err(|error| error.to_string()))
    }

    #[test]
    fn only_tools_and_arguments_that_exist_are_accepted() {
        let cases = [
            ("no arguments", FINDINGS, json!({}), "ok"),
            ("a state", FINDINGS, json!({ "states": ["extra"] }), "ok"),
            ("no such state", FINDINGS, json!({ "states": ["gone"] }), "unknown variant"),
            ("an unknown argument", FINDINGS, json!({ "kubeconfig": "/etc/passwd" }), "unknown field"),
            ("a negative start", FINDINGS, json!({ "from": -1 }), "invalid value"),
            ("explain", EXPLAIN, json!({ "finding": "x" }), "ok"),
            ("explain nothing", EXPLAIN, json!({}), "missing field"),
            ("explain a plan file", EXPLAIN, json!({ "finding": "a1", "plan": "/etc/passwd" }), "unknown field"),
            ("plan", PLAN, json!({ "file": "x.json" }), "ok"),
            ("plan over the brake", PLAN, json!({ "file": "x.json", "max_deletes": 1000 }), "unknown field"),
            ("apply", "apply_plan", json!({}), "no such tool"),
        ];
        for (case, name, arguments, expected) in cases {
            let found = match parse(name, arguments) {
                None => "no such tool".to_owned(),
                Some(Ok(_)) => "ok".to_owned(),
                Some(Err(error)) => error,
            };
            assert!(found.contains(expected), "case: {case}: {found}");
        }
    }

    #[test]
    fn every_argument_is_in_the_schema_of_its_tool() {
        let full = [
            (findings(), json!({ "checks": [], "clusters": [], "states": [], "from": 0, "limit": 1 })),
            (explain(), json!({ "finding": "x", "namespace": "y" })),
            (plan(), json!({ "file": "x", "checks": [], "clusters": [], "namespaces": [], "valid_for": "1h" })),
        ];
        for (tool, arguments) in full {
            let named: Vec<&String> = tool.input_schema["properties"].as_object().unwrap().keys().collect();
            let taken: Vec<&String> = arguments.as_object().unwrap().keys().collect();
            assert_eq!(named, taken, "{}", tool.name);
            assert!(parse(&tool.name, arguments.clone()).unwrap().is_ok(), "{}", tool.name);
        }
    }

    #[test]
    fn without_a_folder_every_tool_only_reads() {
        let read_only = |tool: &Tool| tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true);
        assert!(offered(false).iter().all(read_only));
        let writing: Vec<_> = offered(true).into_iter().filter(|tool| !read_only(tool)).map(|tool| tool.name).collect();
        assert_eq!(writing, [PLAN]);
    }
}
