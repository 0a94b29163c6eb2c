//! The plan as one page for a browser, to attach to a ticket.
//!
//! Invariants:
//! - the page stands alone: no script, no link to another place, and a policy that forbids the browser every request;
//! - text from clusters is text, whatever is in it;
//! - the page decides nothing, and says so.
//!
//! Elsewhere: how it looks (`html.css`), escaping (`crate::render::html`).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;

use serde_json::Value;

use super::vocabulary::{accepted_note, count, place, would_run};
use super::{FindingSource, Page};
use crate::render::html::{escaped, escaped_lines};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Action, Finding, ObservationRecord, State, short_id};

const STYLE: &str = include_str!("html.css");

/// Passes the page to `write`, in parts.
///
/// # Errors
/// That of `write`.
pub fn html<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    let mut by_cluster = Clusters::default();
    page.plan.findings.brief().for_each(|brief| by_cluster.count(brief.cluster, brief.state));
    write(&text(&[head(page), summary(page), clusters(page, &by_cluster), actions(page)].concat()))?;
    let numbers: BTreeMap<&str, usize> =
        page.plan.actions.iter().enumerate().map(|(number, action)| (action.id.as_str(), number)).collect();
    let make = |finding: Finding, _| (finding.cluster.clone(), self::finding(&finding, &numbers));
    let Ok(()) = page.plan.findings.each(
        |state| page.lists(state),
        make,
        |(cluster, shown)| {
            by_cluster.add(cluster, shown);
            Ok::<_, Infallible>(())
        },
    );
    write(&text("<h2 id=\"findings\">Findings</h2>\n"))?;
    if by_cluster.0.is_empty() {
        write(&text("<p>None.</p>\n"))?;
    }
    for (cluster, block) in &by_cluster.0 {
        let title = if cluster.is_empty() { "of no cluster" } else { cluster };
        write(&text(&format!("<section>\n<h3>{}</h3>\n", escaped(title))))?;
        block.shown.iter().try_for_each(|finding| write(&text(finding)))?;
        if block.folded > 0 {
            let line = format!("<p class=\"muted\">{} as expected.</p>\n", count(block.folded, "finding"));
            write(&text(&line))?;
        }
        write(&text("</section>\n"))?;
    }
    write(&text(&[gaps(&page.plan.observations), FOOT.to_owned()].concat()))
}

const FOOT: &str = "<footer>This page decides nothing. <code>trueup apply</code> computes verdicts, tiers and gates again \
                    from the live clusters before anything is sent.</footer>\n</body>\n</html>\n";

fn text(html: &str) -> Printable {
    Printable::lines(html)
}

/// Findings by cluster.
#[derive(Default)]
struct Clusters(BTreeMap<String, Block>);

#[derive(Default)]
struct Block {
    /// What each finding looks like, in their order.
    shown: Vec<String>,
    differing: usize,
    matching: usize,
    /// Matches that are counted only.
    folded: usize,
}

impl Clusters {
    fn count(&mut self, cluster: &str, state: State) {
        let block = self.0.entry(cluster.to_owned()).or_default();
        match state {
            State::Match => {
                block.matching += 1;
                block.folded += 1;
            }
            State::Missing
            | State::Extra
            | State::Drift
            | State::Stale
            | State::Unknown
            | State::Error
            | State::Blocked => block.differing += 1,
        }
    }

    fn add(&mut self, cluster: String, shown: String) {
        let block = self.0.entry(cluster).or_default();
        block.shown.push(shown);
        block.folded = (block.differing + block.matching).saturating_sub(block.shown.len());
    }
}

fn head<F>(page: &Page<'_, F>) -> String {
    let plan = page.plan;
    let title = format!("Plan {}", short_id(&plan.id));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n",
        title = escaped(&title)
    );
    let facts = [
        ("Id", format!("<code>{}</code>", escaped(&plan.id))),
        ("Made", escaped(&page.time(plan.created_at))),
        ("Valid until", escaped(&page.time(plan.expires_at))),
        ("Made by", escaped(&format!("trueup {}", plan.engine))),
    ];
    html.push_str("<dl class=\"facts\">\n");
    for (name, value) in facts {
        let _ = writeln!(html, "<dt>{name}</dt><dd>{value}</dd>");
    }
    html + "</dl>\n</header>\n"
}

fn summary<F>(page: &Page<'_, F>) -> String {
    let all = &page.plan.actions;
    let run = all.iter().filter(|action| would_run(action)).count();
    let held = all.iter().filter(|action| !action.blocked_by.is_empty()).count();
    let would = match run {
        0 => "No action would run".to_owned(),
        run => format!("{} would run", count(run, "action")),
    };
    let held = if held == 0 { String::new() } else { format!(", {held} blocked") };
    let other = all.len() - run - all.iter().filter(|action| !action.blocked_by.is_empty()).count();
    let other = if other == 0 { String::new() } else { format!(", {other} not selected") };
    let mut html = format!(
        "<p class=\"lead\">{would}{held}{other}.</p>\n<ul class=\"counts\" aria-label=\"Findings by state\">\n"
    );
    for (state, number) in &page.plan.summary.findings {
        let state = escaped(state);
        let _ = writeln!(html, "<li class=\"{state}\"><b>{number}</b>{state}</li>");
    }
    html + "</ul>\n"
}

fn clusters<F>(page: &Page<'_, F>, counted: &Clusters) -> String {
    let mut html = "<h2 id=\"clusters\">Clusters</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>Cluster</th><th>Class</th>\
                    <th>Source</th><th class=\"number\">Differ</th><th class=\"number\">As expected</th><th>Identity</th></tr>\
                    </thead>\n<tbody>\n"
        .to_owned();
    for target in &page.plan.targets {
        let identity = match target.identity.account.as_str() {
            "" => target.identity.kube_system_uid.clone(),
            account => format!("account {account}"),
        };
        let (differing, matching) =
            counted.0.get(&target.cluster).map_or((0, 0), |block| (block.differing, block.matching));
        let (name, class) = (escaped(&target.cluster), escaped(target.class.as_str()));
        let (source, identity) = (escaped(target.source.as_str()), escaped(&identity));
        let _ = writeln!(
            html,
            "<tr><td class=\"name\">{name}</td><td>{class}</td><td>{source}</td><td class=\"number\">{differing}</td>\
             <td class=\"number\">{matching}</td><td><code>{identity}</code></td></tr>"
        );
    }
    html + "</tbody>\n</table></div>\n"
}

fn actions<F>(page: &Page<'_, F>) -> String {
    let mut html = "<h2 id=\"actions\">Actions</h2>\n".to_owned();
    if page.plan.actions.is_empty() {
        html.push_str("<p>None.</p>\n");
    }
    for (number, action) in page.plan.actions.iter().enumerate() {
        html.push_str(&self::action(number, action));
    }
    html
}

fn action(number: usize, action: &Action) -> String {
    let status = match (action.blocked_by.is_empty(), action.selected) {
        (false, _) => "<span class=\"chip held\">blocked</span>",
        (true, true) => "<span class=\"chip match\">would run</span>",
        (true, false) => "<span class=\"chip\">not selected</span>",
    };
    let target = format!("{} {}", action.target.kind, place(&action.target));
    let mut html = format!(
        "<details id=\"a{number}\">\n<summary>{status} <span class=\"chip\">{tier}</span> <span class=\"name\">{verb} \
         {target}</span><span class=\"says\">{id} in {cluster}; undo: {undo}</span></summary>\n<div>\n<dl class=\"facts\">\n",
        tier = escaped(&action.tier.to_string()),
        verb = escaped(action.verb().as_str()),
        target = escaped(&target),
        id = escaped(&action.id),
        cluster = escaped(if action.cluster.is_empty() { "no cluster" } else { &action.cluster }),
        undo = escaped(action.undo.as_str()),
    );
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(html, "<dt>{name}</dt><dd>{}</dd>", escaped(value));
    };
    fact("Reason", action.reason.as_str());
    action.finding().into_iter().for_each(|finding| fact("Finding", finding));
    action.ownership.iter().for_each(|proof| fact("Owned because", proof));
    for blocked in &action.blocked_by {
        fact("Blocked", &format!("{}: {}", blocked.gate.as_str(), blocked.why));
    }
    if !action.depends_on.is_empty() {
        fact("Depends on", &action.depends_on.join(", "));
    }
    html.push_str("</dl>\n");
    block(&mut html, "Change", &action.diff);
    html + "</div>\n</details>\n"
}

fn finding(finding: &Finding, numbers: &BTreeMap<&str, usize>) -> String {
    let subject = format!("{} {}", finding.subject.kind, place(&finding.subject));
    let mut verdict = vec![finding.verdict.as_str()];
    verdict.extend(finding.codes.iter().map(String::as_str));
    let mut html = format!(
        "<details>\n<summary><span class=\"state {state}\">{state}</span> <span class=\"name\">{subject}</span> \
         <span class=\"muted\">{verdict}</span><span class=\"says\">{says}</span></summary>\n<div>\n",
        state = escaped(finding.state.as_str()),
        subject = escaped(&subject),
        verdict = escaped(&verdict.join(", ")),
        says = escaped(&finding.summary),
    );
    if let Some(note) = accepted_note(finding) {
        let _ = writeln!(html, "<p>{}</p>", escaped(&note));
    }
    let (advice, evidence): (Vec<_>, Vec<_>) = finding.evidence.iter().partition(|line| line.is_advice());
    if !evidence.is_empty() {
        html.push_str("<h4>Evidence</h4>\n<ol>\n");
        for line in evidence {
            let place = [line.object.as_str(), line.field.as_str()].join(" ");
            let (message, place) = (escaped(&line.message), escaped(place.trim()));
            let _ = writeln!(html, "<li>{message}<br><code class=\"muted\">{place}</code></li>");
        }
        html.push_str("</ol>\n");
    }
    block(&mut html, "Expected", &json(&finding.expected));
    block(&mut html, "Actual", &json(&finding.actual));
    if !advice.is_empty() || !finding.actions.is_empty() {
        html.push_str("<h4>Remedy</h4>\n<ul>\n");
        for id in &finding.actions {
            let shown = escaped(id);
            let _ = match numbers.get(id.as_str()) {
                Some(number) => writeln!(html, "<li><a href=\"#a{number}\">action {shown}</a></li>"),
                None => writeln!(html, "<li>action {shown}</li>"),
            };
        }
        for line in advice {
            let _ = writeln!(html, "<li>{}</li>", escaped(&line.message));
        }
        html.push_str("</ul>\n");
    }
    let _ = writeln!(html, "<p class=\"muted\"><code>{}</code></p>", escaped(&finding.id));
    html + "</div>\n</details>\n"
}

/// The collections that were not read completely.
fn gaps(observations: &[ObservationRecord]) -> String {
    let unknown: Vec<&ObservationRecord> = observations.iter().filter(|one| one.reason.is_some()).collect();
    if unknown.is_empty() {
        return String::new();
    }
    let mut html = "<h2 id=\"unknown\">Not completely read</h2>\n<ul>\n".to_owned();
    for one in unknown {
        let place = one.namespace.as_ref().map_or(String::new(), |namespace| format!("@{namespace}"));
        let more = if one.more == 0 { String::new() } else { format!(" (and {} more)", one.more) };
        let line =
            format!("{} {}{place}{more}: {}", one.cluster, one.resource, one.reason.as_deref().unwrap_or_default());
        let _ = writeln!(html, "<li>{}</li>", escaped(&line));
    }
    html + "</ul>\n"
}

/// A titled block of lines; nothing where there are none.
fn block(html: &mut String, title: &str, lines: &str) {
    if !lines.trim().is_empty() {
        let _ = writeln!(html, "<h4>{title}</h4>\n<pre>{}</pre>", escaped_lines(lines));
    }
}

fn json(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
    }
}
