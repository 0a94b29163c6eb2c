//! `trueup rbac`: the least roles that the enabled checks need, as YAML for `kubectl apply`.
//!
//! Exit codes: 0; 1 for a check that does not exist, or an invalid config.
//!
//! Invariants: nothing is connected; roles follow from the permissions that checks and connections declare.

mod belt;
mod rules;

use std::fmt::Write as _;

use super::args::{RbacArgs, RbacMode};
use super::context::Context;
use super::error::CliError;
use super::terminal::print;
use rules::{Granted, Rule, RuleSet};
use trueup_checks::permissions::{ClusterScope, NeededFor, Permission};
use trueup_checks::{Check, GuestUse};
use trueup_core::engine::text::Printable;
use trueup_fleet::connect;

/// What the controller needs for its own objects.
const CONTROLLER_ROLES: &str = include_str!("../../../deploy/base/rbac.yaml");

pub fn run(context: &Context, args: &RbacArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let checks = selected(&config.domains.0, &args.checks)?;
    let text = if args.belt { belt::policy(&checks, &args.user) } else { roles(&checks, args) };
    print(&Printable::lines(&text))?;
    Ok(0)
}

fn selected<'c>(checks: &'c [Box<dyn Check>], names: &[String]) -> Result<Vec<&'c dyn Check>, CliError> {
    let all = checks.iter().map(|check| &**check);
    let known: Vec<&str> = checks.iter().map(|check| check.name().0).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let hint = format!("enabled are {}", known.join(", "));
        return Err(CliError::usage("rbac", format!("no enabled check is called {unknown}"), hint));
    }
    Ok(all.filter(|check| names.is_empty() || names.iter().any(|name| name == check.name().0)).collect())
}

fn roles(checks: &[&dyn Check], args: &RbacArgs) -> String {
    let scope = if args.guest { ClusterScope::Guest } else { ClusterScope::Own };
    let is_needed = |permission: &Permission| {
        permission.scope == scope && (args.mode == RbacMode::Apply || permission.needed_for() == NeededFor::Observe)
    };
    let guests = match checks.iter().any(|check| check.guests() == GuestUse::Read) {
        true => GuestUse::Read,
        false => GuestUse::NotRead,
    };
    let common = connect::permissions(guests).into_iter().map(|permission| Granted { permission, check: None });
    let own = checks.iter().flat_map(|check| {
        let name = check.name().0;
        check.permissions().into_iter().map(move |permission| Granted { permission, check: Some(name) })
    });
    let granted = common.chain(own).filter(|granted| is_needed(&granted.permission));
    let rules = RuleSet::of(granted);
    let name = match scope {
        ClusterScope::Own => format!("trueup-{}", args.mode.as_str()),
        ClusterScope::Guest => format!("trueup-guest-{}", args.mode.as_str()),
    };
    let mut text = format!("# {name}: {}\n", checks.iter().map(|check| check.name().0).collect::<Vec<_>>().join(", "));
    for (namespace, rules) in rules.by_namespace() {
        text += &role(&name, namespace, rules);
        text += &binding(&name, namespace, &args.user);
    }
    if scope == ClusterScope::Own && args.mode != RbacMode::Observe {
        text += "---\n# The controller's own objects, as in deploy/base/rbac.yaml.\n";
        let is_role =
            |document: &&str| document.contains("\nkind: Role\n") || document.contains("\nkind: ClusterRole\n");
        let documents: Vec<&str> = CONTROLLER_ROLES.split("---\n").filter(is_role).collect();
        text += &documents.join("---\n");
    }
    text
}

fn role(name: &str, namespace: Option<&str>, rules: &[Rule]) -> String {
    let mut text = "---\napiVersion: rbac.authorization.k8s.io/v1\n".to_owned();
    text += &match namespace {
        None => format!("kind: ClusterRole\nmetadata:\n  name: {name}\nrules:\n"),
        Some(namespace) => format!("kind: Role\nmetadata:\n  name: {name}\n  namespace: {namespace}\nrules:\n"),
    };
    for rule in rules {
        let _infallible = write!(text, "{rule}");
    }
    text
}

fn binding(name: &str, namespace: Option<&str>, user: &str) -> String {
    let (kind, role, place) = match namespace {
        None => ("ClusterRoleBinding", "ClusterRole", String::new()),
        Some(namespace) => ("RoleBinding", "Role", format!("  namespace: {namespace}\n")),
    };
    let account = user.strip_prefix("system:serviceaccount:").and_then(|account| account.split_once(':'));
    let subject = match account {
        Some((namespace, name)) => {
            format!("  - kind: ServiceAccount\n    name: {}\n    namespace: {}\n", quoted(name), quoted(namespace))
        }
        None => format!("  - apiGroup: rbac.authorization.k8s.io\n    kind: User\n    name: {}\n", quoted(user)),
    };
    format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{place}roleRef:\n  \
         apiGroup: rbac.authorization.k8s.io\n  kind: {role}\n  name: {name}\nsubjects:\n{subject}"
    )
}

/// Text of the command line in YAML, which JSON is part of.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
