//! `trueup oidc login`: the user that a token would get.
//!
//! Invariants: only claims that become the identity are printed, and no part of a token.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::super::args::ExplainFormat;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::terminal::print;
use super::render::print_problems;
use super::request::{Asked, judge};
use super::review::{self, ReviewJson};
use super::{NOT_ACCEPTED, chosen};
use trueup_checks::external_oidc::{Answer, Identity, Refusal, Reserved, TOKEN_MAX, Token, login};
use trueup_core::engine::text::{Printable, printable_json};
use trueup_core::files;
use trueup_core::world::View;
use trueup_net::SecretText;
use trueup_operate::Reviewed;

/// Reads claims or a token from a file, or from stdin for `-`. A token is also returned as it is, to be sent.
///
/// # Errors
/// The file cannot be read, or has neither.
pub fn read_token(path: &Path) -> Result<(Token, Option<SecretText>), CliError> {
    let doing = format!("--claims {}", path.display());
    let limit = u64::try_from(TOKEN_MAX).unwrap_or(u64::MAX);
    let read =
        if path == Path::new("-") { files::take(std::io::stdin().lock(), limit) } else { files::read(path, limit) };
    let hint = "name a file with claims as a JSON object, or with a token";
    let bytes = read.map_err(|error| CliError::failed(doing.clone(), error.to_string(), hint))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| CliError::failed(doing.clone(), "it is not text", hint))?;
    let token = Token::read(text).map_err(|bad| CliError::failed(doing, bad.to_string(), hint))?;
    let is_claims = text.trim_start().starts_with('{');
    Ok((token, (!is_claims).then(|| SecretText::new(text.trim()))))
}

pub async fn run(
    context: &Context,
    asked: Asked,
    token: Token,
    sent: Option<SecretText>,
    format: ExplainFormat,
) -> Result<u8, CliError> {
    let fleet = chosen::connect(context).await?;
    let shown = context.clone();
    let simulated = fleet.ask(move |live| simulate(&shown, live.view(), &asked, &token)).await;
    let Simulated { answer, warnings, server } = simulated.map_err(|error| CliError::operate("oidc", &error))??;
    let reviewed = review::ask(&fleet, server, sent).await;
    let text = match (format, &reviewed) {
        (ExplainFormat::Json, _) => json(&answer, warnings, reviewed.as_ref())?,
        (ExplainFormat::Table, None) => table(context, &answer),
        (ExplainFormat::Table, Some(reviewed)) => {
            format!("{}\n{}", table(context, &answer), review::table(context, &answer, reviewed))
        }
    };
    print(&Printable::styled(&text))?;
    let is_accepted = match &answer {
        Answer::Accepted(_) => reviewed.is_none_or(|reviewed| review::agrees(&answer, &reviewed)),
        Answer::Refused(_) | Answer::NotVerifiable(_) => false,
    };
    Ok(if is_accepted { 0 } else { NOT_ACCEPTED })
}

/// What the mappings make of the token.
struct Simulated {
    answer: Answer,
    warnings: Vec<&'static str>,
    /// The context whose API server can be asked, or why there is none.
    server: Result<String, String>,
}

fn simulate(context: &Context, view: View<'_>, asked: &Asked, token: &Token) -> Result<Simulated, CliError> {
    let judged = judge(view, asked)?;
    judged.notes.iter().for_each(|note| context.note(note));
    print_problems(context, &judged.checked);
    if let Some(kind) = judged.not_oidc() {
        context.note(&format!("the type of {} is {kind}; the result is for type OIDC", judged.title));
    }
    let answer = login(&judged.spec, &judged.gates?, token, view.now);
    let warnings = judged.checked.warnings.iter().map(|warning| warning.code.as_str()).collect();
    let server = review::context_of(asked.cluster(view)?);
    Ok(Simulated { answer, warnings, server })
}

/// The answer as JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum AnswerJson<'a> {
    Accepted {
        accepted: bool,
        username: &'a str,
        uid: &'a str,
        groups: &'a [String],
        extra: &'a BTreeMap<String, Vec<String>>,
        warnings: Vec<&'a str>,
        assumed: &'a [&'static str],
    },
    Refused {
        accepted: bool,
        refused_by: &'static str,
        rule: &'a str,
        message: &'a str,
    },
    /// Neither yes nor no.
    NotVerifiable {
        accepted: Option<bool>,
        message: &'a str,
    },
}

/// With the API server's answer beside it, where it was asked.
#[derive(Serialize)]
struct LoginJson<'a> {
    #[serde(flatten)]
    answer: AnswerJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ReviewJson>,
}

fn json(answer: &Answer, mut warnings: Vec<&str>, reviewed: Option<&Reviewed>) -> Result<String, CliError> {
    let review = reviewed.map(|reviewed| review::json(answer, reviewed));
    let answer = match answer {
        Answer::Accepted(Identity { username, uid, groups, extra, assumed, reserved }) => {
            for name in reserved {
                warnings.push(reserved_word(name));
            }
            warnings.sort_unstable();
            warnings.dedup();
            AnswerJson::Accepted { accepted: true, username, uid, groups, extra, warnings, assumed }
        }
        Answer::Refused(Refusal { by, rule, message }) => {
            AnswerJson::Refused { accepted: false, refused_by: by.as_str(), rule, message }
        }
        Answer::NotVerifiable(why) => AnswerJson::NotVerifiable { accepted: None, message: why },
    };
    let text = serde_json::to_string(&LoginJson { answer, review })
        .map_err(|error| CliError::failed("writing the answer", error.to_string(), "report this"))?;
    Ok(format!("{}\n", printable_json(&text)))
}

fn reserved_word(reserved: &Reserved) -> &'static str {
    match reserved {
        Reserved::Username(_) => "reserved-username",
        Reserved::Group(_) => "reserved-group",
    }
}

fn table(context: &Context, answer: &Answer) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: &str| lines.push(format!("{name:<10}{}\n", context.terminal.safe(value)));
    match answer {
        Answer::Accepted(Identity { username, uid, groups, extra, assumed, reserved }) => {
            line("username", username);
            line("uid", uid);
            line("groups", &groups.join(", "));
            for (key, values) in extra {
                line("extra", &format!("{key} = {}", values.join(", ")));
            }
            if !assumed.is_empty() {
                line("assumed", &format!("{} (not among the claims)", assumed.join(", ")));
            }
            for name in reserved {
                let (what, name) = match name {
                    Reserved::Username(name) => ("user name", name),
                    Reserved::Group(name) => ("group", name),
                };
                line("warning", &format!("the {what} {name} is one Kubernetes keeps for itself"));
            }
        }
        Answer::Refused(Refusal { by, rule, message }) => {
            line("refused by", &format!(" {}", by.as_str()));
            line("rule", rule);
            line("message", message);
        }
        Answer::NotVerifiable(why) => line("unknown", why),
    }
    lines.concat()
}
