//! The types against the schemas that are installed, and a plan in and out of a Proposal.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use trueup_core::engine::testing::{delete, finding, given};
use trueup_core::engine::{Plan, Tier, canonical_digest};

fn plan() -> Plan {
    given().finding(finding("a").draft(delete("guest-a", "a"))).plan()
}

fn spec() -> ProposalSpec {
    let plan = plan();
    let target = plan.targets.iter().find(|target| target.cluster == "guest-a").unwrap();
    ProposalSpec::of(&plan, target, &plan.actions[0].domain).unwrap()
}

/// A Proposal in which every optional property is set.
fn full_proposal() -> Value {
    let spec = spec();
    let plan_id = spec.plan_id.clone();
    let mut proposal = serde_json::to_value(Proposal::new("trueup", "p", spec)).unwrap();
    proposal["spec"]["cluster"]["identity"] = json!({ "kubeSystemUID": "u", "caSHA256": "c", "account": "a" });
    let at = "2026-11-19T10:00:00Z";
    proposal["status"] = json!({
        "phase": "PartlyApplied", "shard": 7,
        "approvals": [{ "name": "n", "approver": "auto", "rule": "r", "at": at }],
        "actions": [{ "id": "a1", "outcome": "verified", "message": "", "at": at }],
        "journal": { "entry": plan_id, "lastHash": "h" },
        "conditions": [{ "type": "Ready", "status": "True", "reason": "R", "message": "", "observedGeneration": 1,
            "lastTransitionTime": at }],
    });
    proposal
}

fn full_approval() -> Value {
    json!({
        "apiVersion": "trueup.dev/v1alpha1", "kind": "Approval", "metadata": { "name": "a", "namespace": "trueup" },
        "spec": { "proposal": "p", "planID": spec().plan_id, "tier": 3, "approver": "ann@example.com",
            "words": "guest-a", "actions": ["a1"], "decision": "approve", "reason": "r" },
    })
}

fn schema(plural: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../deploy/crds/{plural}.{GROUP}.yaml"));
    let definition: Value = serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(definition["spec"]["group"], GROUP);
    assert_eq!(definition["spec"]["names"]["plural"], plural);
    assert_eq!(definition["spec"]["versions"][0]["name"], VERSION);
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

/// The paths of the properties that a schema declares.
fn declared(schema: &Value, path: &str, paths: &mut BTreeSet<String>) {
    if schema.get("items").is_some() {
        return declared(&schema["items"], path, paths);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        paths.insert(path.clone());
        declared(inner, &path, paths);
    }
}

/// The paths of the properties that an object has. Metadata is the API server's.
fn used(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    if let Some(items) = value.as_array() {
        return items.iter().for_each(|item| used(item, path, paths));
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        paths.insert(path.clone());
        if path != ".metadata" {
            used(inner, &path, paths);
        }
    }
}

#[test]
fn the_types_have_exactly_the_properties_of_the_installed_schemas() {
    let proposal: Proposal = serde_json::from_value(full_proposal()).unwrap();
    let approval: Approval = serde_json::from_value(full_approval()).unwrap();
    let cases = [
        ("proposals", serde_json::to_value(proposal).unwrap(), full_proposal()),
        ("approvals", serde_json::to_value(approval).unwrap(), full_approval()),
    ];
    for (plural, written, read) in cases {
        assert_eq!(written, read, "{plural}: something was lost");
        let (mut declared_paths, mut used_paths) = (BTreeSet::new(), BTreeSet::new());
        declared(&schema(plural), "", &mut declared_paths);
        used(&written, "", &mut used_paths);
        assert_eq!(declared_paths, used_paths, "{plural}");
    }
}

#[test]
fn limits_and_enums_of_the_schemas_are_those_of_the_types() {
    let proposal = schema("proposals");
    let (spec, status) =
        (&proposal["properties"]["spec"]["properties"], &proposal["properties"]["status"]["properties"]);
    assert_eq!(spec["plan"]["maxLength"], PLAN_BYTES_MAX);
    assert_eq!(spec["actionCount"]["maximum"], ACTIONS_MAX);
    assert_eq!(status["phase"]["enum"], json!(Phase::ALL.map(Phase::as_str)));
    let approval = schema("approvals");
    let spec = &approval["properties"]["spec"]["properties"];
    assert_eq!(spec["decision"]["enum"], json!(Decision::ALL.map(Decision::as_str)));
    assert_eq!((&spec["tier"]["minimum"], &spec["tier"]["maximum"]), (&json!(Tier::T1), &json!(Tier::T4)));
    assert_eq!(spec["actions"]["maxItems"], ACTIONS_MAX);
    for (kind, schema) in [("proposals", proposal), ("approvals", approval.clone())] {
        let rules = &schema["properties"]["spec"]["x-kubernetes-validations"];
        assert_eq!(rules[0]["rule"], "self == oldSelf", "{kind}");
    }
}

#[test]
fn a_plan_comes_out_of_a_proposal_as_it_went_in() {
    let spec = spec();
    assert_eq!(spec.read_plan().unwrap(), plan());
    assert_eq!((spec.tier, spec.action_count), (Tier::T3, 1), "guest-a is of class prod");
}

#[test]
fn a_spec_that_contradicts_its_plan_is_refused() {
    type Edit = fn(&mut ProposalSpec);
    let cases: [(&str, Edit, &str); 9] = [
        ("another id", |spec| spec.plan_id = spec.plan_id.replace("sha256:", "sha256:0"), "spec.planID is"),
        ("a lower tier", |spec| spec.tier = Tier::T1, "spec.tier is T1, the plan has T3"),
        ("another count", |spec| spec.action_count = 2, "spec.actionCount is 2, the plan has 1"),
        ("a later expiry", |spec| spec.expires_at += jiff::SignedDuration::from_hours(1), "spec.expiresAt is"),
        ("another check", |spec| spec.check = "other".to_owned(), "spec.check is other"),
        ("another cluster", |spec| spec.cluster.name = "guest-b".to_owned(), "spec.cluster is guest-b"),
        ("another identity", |spec| spec.cluster.identity.ca_sha256 = "0".to_owned(), "spec.cluster is"),
        ("a space", |spec| spec.plan.insert(1, ' '), "spec.plan is not canonical JSON"),
        ("an edited plan", |spec| spec.plan = spec.plan.replacen("\"tier\":3", "\"tier\":1", 1), "plan was edited"),
    ];
    for (case, edit, expected) in cases {
        let mut spec = spec();
        edit(&mut spec);
        let error = spec.read_plan().expect_err(case).to_string();
        assert!(error.contains(expected), "case: {case}: {error}");
    }
}

#[test]
fn a_key_that_is_written_twice_is_no_canonical_plan() {
    let mut spec = spec();
    spec.plan = spec.plan.replacen("{\"actions\":", "{\"actions\":[],\"actions\":", 1);
    // The last one counts when JSON is read, so the id is right.
    assert_eq!(spec.read_plan().expect_err("a repeated key").to_string(), "spec.plan is not canonical JSON");
}

#[test]
fn a_plan_that_is_too_large_does_not_fit() {
    let mut plan = plan();
    let target = plan.targets[0].clone();
    plan.actions = vec![plan.actions[0].clone(); ACTIONS_MAX + 1];
    let error = ProposalSpec::of(&plan, &target, "x").unwrap_err();
    assert_eq!(error, TooLarge::Actions { found: ACTIONS_MAX + 1 });
    plan.actions.truncate(1);
    plan.actions[0].diff = "x".repeat(PLAN_BYTES_MAX);
    assert!(matches!(ProposalSpec::of(&plan, &target, "x"), Err(TooLarge::Bytes { .. })));
}

#[test]
fn names_are_those_an_object_may_have() {
    let id = canonical_digest(&json!("x")).unwrap();
    let short = &id["sha256:".len()..][..8];
    let long = "c".repeat(300);
    let cases = [
        ("guest-payments", format!("guest-payments-hosted-oidc-{short}")),
        ("arn:aws:eks:eu-1:1:cluster/Prod", format!("arn-aws-eks-eu-1-1-cluster-prod-hosted-oidc-{short}")),
        ("", format!("cluster-hosted-oidc-{short}")),
        ("--", format!("cluster-hosted-oidc-{short}")),
        ("é", format!("cluster-hosted-oidc-{short}")),
    ];
    for (cluster, expected) in cases {
        assert_eq!(proposal_name(cluster, "hosted-oidc", &id), expected, "case: {cluster}");
    }
    assert_eq!(proposal_name(&long, "hosted-oidc", &id).len(), 253);
}

#[test]
fn the_end_of_a_proposal_is_final() {
    let open: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| !phase.is_terminal()).collect();
    assert_eq!(open, [Phase::Proposed, Phase::Approved, Phase::Applying]);
    assert_eq!(Proposal::new("n", "p", spec()).phase(), Phase::Proposed);
}
