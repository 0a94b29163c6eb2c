//! `auth-config.json` as the authentication operator writes it, from whatever a user stored.
//!
//! Invariants: keys in the order of the Go encoder; `&`, `<` and `>` escaped as Go does; no shape panics.
//! Facts: `docs/facts/external-oidc.md` sections 1.2 to 1.4.

use serde_json::Value;

use super::super::guest::ObjectHandle;
use crate::SimCluster;

/// Renders a spec of type OIDC, or says why the operator refuses it.
pub fn render(sim: &SimCluster, spec: &Value) -> Result<String, String> {
    let providers = spec["oidcProviders"].as_array().map_or(&[][..], Vec::as_slice);
    let written: Result<Vec<String>, String> = providers.iter().map(|provider| of_provider(sim, provider)).collect();
    let jwt = match written?.as_slice() {
        [] => "null".to_owned(),
        written => format!("[{}]", written.join(",")),
    };
    let kind = "\"kind\":\"AuthenticationConfiguration\",\"apiVersion\":\"apiserver.config.k8s.io/v1beta1\"";
    Ok(format!("{{{kind},\"jwt\":{jwt}}}"))
}

fn of_provider(sim: &SimCluster, provider: &Value) -> Result<String, String> {
    let failed = |what: &str, why: String| format!("generating {what} for provider {}: {why}", provider["name"]);
    let issuer = issuer(sim, &provider["issuer"]).map_err(|why| failed("issuer", why))?;
    let url = text(&provider["issuer"]["issuerURL"]);
    let mappings = mappings(&provider["claimMappings"], url).map_err(|why| failed("claimMappings", why))?;
    let rules = claim_rules(&provider["claimValidationRules"]).map_err(|why| failed("claimValidationRules", why))?;
    let rules = match rules.as_slice() {
        [] => String::new(),
        rules => format!("\"claimValidationRules\":[{}],", rules.join(",")),
    };
    Ok(format!("{{\"issuer\":{issuer},{rules}\"claimMappings\":{mappings}}}"))
}

fn issuer(sim: &SimCluster, issuer: &Value) -> Result<String, String> {
    let mut fields = vec![("url", quoted(text(&issuer["issuerURL"])))];
    if let Some(url) = given(&issuer["discoveryURL"]) {
        fields.push(("discoveryURL", quoted(url)));
    }
    if let Some(name) = given(&issuer["issuerCertificateAuthority"]["name"]) {
        fields.push(("certificateAuthority", quoted(&authority(sim, name)?)));
    }
    let audiences = issuer["audiences"].as_array().map_or(&[][..], Vec::as_slice);
    let audiences: Vec<String> = audiences.iter().map(|audience| quoted(text(audience))).collect();
    fields.push(("audiences", format!("[{}]", audiences.join(","))));
    fields.push(("audienceMatchPolicy", quoted("MatchAny")));
    Ok(object(&fields))
}

/// The bundle in `openshift-config`.
fn authority(sim: &SimCluster, name: &str) -> Result<String, String> {
    let handle = ObjectHandle::new(sim, "v1", "ConfigMap", format!("openshift-config/{name}"));
    let found = handle.get().ok_or_else(|| format!("configmap \"{name}\" not found"))?;
    let bundle = given(&found["data"]["ca-bundle.crt"]).map(str::to_owned);
    bundle.ok_or_else(|| format!("configmap \"openshift-config/{name}\" has no key \"ca-bundle.crt\""))
}

fn mappings(mappings: &Value, issuer: &str) -> Result<String, String> {
    let username = &mappings["username"];
    let claim = given(&username["claim"]).ok_or("username claim is required but an empty value was provided")?;
    let prefix = match text(&username["prefixPolicy"]) {
        "Prefix" => text(&username["prefix"]["prefixString"]).to_owned(),
        "NoPrefix" => String::new(),
        "" if claim == "email" => String::new(),
        "" => format!("{issuer}#"),
        other => return Err(format!("invalid username prefix policy: {other}")),
    };
    let groups = &mappings["groups"];
    let mut of_groups: Vec<(&str, String)> =
        given(&groups["claim"]).map(|claim| ("claim", quoted(claim))).into_iter().collect();
    of_groups.push(("prefix", quoted(text(&groups["prefix"]))));
    let uid = match (given(&mappings["uid"]["claim"]), given(&mappings["uid"]["expression"])) {
        (Some(_), Some(_)) => return Err("uid mapping must set either claim or expression, not both".to_owned()),
        (None, Some(expression)) => ("expression", quoted(expression)),
        (claim, None) => ("claim", quoted(claim.unwrap_or("sub"))),
    };
    let mut fields = vec![
        ("username", object(&[("claim", quoted(claim)), ("prefix", quoted(&prefix))])),
        ("groups", object(&of_groups)),
        ("uid", object(&[uid])),
    ];
    let extra = mappings["extra"].as_array().map_or(&[][..], Vec::as_slice);
    let extra: Vec<String> = extra
        .iter()
        .map(|one| {
            object(&[("key", quoted(text(&one["key"]))), ("valueExpression", quoted(text(&one["valueExpression"])))])
        })
        .collect();
    if !extra.is_empty() {
        fields.push(("extra", format!("[{}]", extra.join(","))));
    }
    Ok(object(&fields))
}

fn claim_rules(rules: &Value) -> Result<Vec<String>, String> {
    let rules = rules.as_array().map_or(&[][..], Vec::as_slice);
    let of_rule = |rule: &Value| match text(&rule["type"]) {
        "RequiredClaim" => {
            let required = &rule["requiredClaim"];
            let value = given(&required["requiredValue"]).map(|value| ("requiredValue", quoted(value)));
            let claim = given(&required["claim"]).map(|claim| ("claim", quoted(claim)));
            Ok(object(&claim.into_iter().chain(value).collect::<Vec<_>>()))
        }
        "CEL" => {
            let message = given(&rule["cel"]["message"]).map(|message| ("message", quoted(message)));
            let expression = given(&rule["cel"]["expression"]).map(|text| ("expression", quoted(text)));
            Ok(object(&expression.into_iter().chain(message).collect::<Vec<_>>()))
        }
        other => Err(format!("unknown claimValidationRule type: {other}")),
    };
    rules.iter().map(of_rule).collect()
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text that is not empty.
fn given(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn quoted(text: &str) -> String {
    let escapes =
        [("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")];
    let written = Value::from(text).to_string();
    escapes.iter().fold(written, |written, (from, to)| written.replace(from, to))
}
