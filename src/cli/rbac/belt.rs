//! The belt of a cluster: an admission policy that limits the deletes of one user to objects that carry a mark.
//!
//! Invariants: the marks are those the checks count as proof of ownership, by the names the checks use.
//! Elsewhere: the judgement itself, which asks for two proofs (`checks`).

use std::collections::BTreeMap;

use super::quoted;
use trueup_checks::Check;
use trueup_checks::permissions::{OwnerMark, Sign};

/// The policy and its binding for a user name, as the API server of the cluster knows it.
pub fn policy(checks: &[&dyn Check], user: &str) -> String {
    let mut kinds: BTreeMap<Sign, Vec<&str>> = BTreeMap::new();
    for OwnerMark { resource, sign } in checks.iter().flat_map(|check| check.owner_marks()) {
        kinds.entry(sign).or_default().push(resource.plural);
    }
    let term = |(sign, plurals): (&Sign, &Vec<&str>)| match plurals.as_slice() {
        [plural] => format!("(request.resource.resource == '{plural}' && {})", condition(*sign)),
        _ => format!("({})", condition(*sign)),
    };
    let marks: Vec<String> = kinds.iter().map(term).collect();
    let user = quoted(user);
    let expression = marks.join(" ||\n          ");
    format!(
        r"# The belt: deletes of Secrets and ConfigMaps by this user need a mark of their owner on the object.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: belt.trueup.dev
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: ['']
        apiVersions: [v1]
        operations: [DELETE]
        resources: [secrets, configmaps]
  matchConditions:
    - name: user
      expression: >-
        request.userInfo.username == {user}
  variables:
    - name: labels
      expression: >-
        has(oldObject.metadata.labels) ? oldObject.metadata.labels : {{}}
    - name: annotations
      expression: >-
        has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {{}}
  validations:
    - expression: >-
          {expression}
      message: the object carries no mark of its owner; this user deletes only what does
      reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: belt.trueup.dev
spec:
  policyName: belt.trueup.dev
  validationActions: [Deny]
"
    )
}

/// A mark as CEL. Keys are constants of this program, and JSON text is CEL text.
fn condition(sign: Sign) -> String {
    match sign {
        Sign::LabelTrue(key) => format!("{0} in variables.labels && variables.labels[{0}] == 'true'", quoted(key)),
        Sign::Label(key) => format!("{} in variables.labels", quoted(key)),
        Sign::Annotation(key) => format!("{} in variables.annotations", quoted(key)),
        Sign::AnnotationPrefix(prefix) => {
            format!("variables.annotations.exists(key, key.startsWith({}))", quoted(prefix))
        }
    }
}
