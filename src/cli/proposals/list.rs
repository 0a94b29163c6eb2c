//! `trueup proposals list`: those that wait for approval first, then by expiry.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{DOING, hub_error, name_of};
use crate::cli::args::ExplainFormat;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::output::{age, count, padded};
use crate::cli::terminal::{Style, print};
use trueup_controller::api::{Phase, Proposal};
use trueup_controller::hub::Hub;
use trueup_core::engine::text::{Printable, printable_json};

/// What the JSON is. Keys may be added under the same name; nothing may change meaning.
const SCHEMA: &str = "trueup/proposals/v1";

const HEADINGS: [&str; 7] = ["NAME", "CLUSTER", "CHECK", "TIER", "ACTIONS", "PHASE", "AGE"];

pub async fn run(context: &Context, hub: &Hub, format: ExplainFormat) -> Result<u8, CliError> {
    let mut proposals = Vec::new();
    let read = hub.each_proposal(|mut proposal| {
        // A list shows no plan, and 10,000 of them fill the memory.
        proposal.spec.plan.clear();
        proposals.push(proposal);
    });
    read.await.map_err(|error| hub_error(DOING, &error))?;
    proposals.sort_by_key(|one| (one.phase(), one.spec.expires_at, name_of(one).to_owned()));
    let text = match format {
        ExplainFormat::Table => table(context, &proposals, Timestamp::now()),
        ExplainFormat::Json => {
            let value = json!({ "schema": SCHEMA, "proposals": proposals.iter().map(json_of).collect::<Vec<_>>() });
            printable_json(&format!("{value:#}")) + "\n"
        }
    };
    print(&Printable::styled(&text))?;
    Ok(0)
}

fn table(context: &Context, proposals: &[Proposal], now: Timestamp) -> String {
    let terminal = &context.terminal;
    let mut rows: Vec<[String; 8]> = Vec::new();
    for proposal in proposals {
        let spec = &proposal.spec;
        let created = proposal.metadata.creation_timestamp.as_ref().map_or(now, |created| created.0);
        let ends = match (proposal.phase().is_terminal(), now >= spec.expires_at) {
            (true, _) => String::new(),
            (false, true) => "expired".to_owned(),
            (false, false) => format!("in {}", age(now, spec.expires_at)),
        };
        let cells = [
            name_of(proposal).to_owned(),
            format!("{} ({})", spec.cluster.name, spec.cluster.class.as_str()),
            spec.check.clone(),
            spec.tier.to_string(),
            spec.action_count.to_string(),
            proposal.phase().as_str().to_owned(),
            age(created, now),
            ends,
        ];
        rows.push(cells.map(|cell| terminal.safe(&cell)));
    }
    let waiting = proposals.iter().filter(|one| one.phase() == Phase::Proposed).count();
    let [name, cluster, check, tier, actions, phase, since] = HEADINGS.map(str::to_owned);
    let headings = [name, cluster, check, tier, actions, phase, since, "EXPIRES".to_owned()];
    rows.insert(0, headings);
    let widths: Vec<usize> =
        (0..8).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)).collect();
        let line = cells.join("  ").trim_end().to_owned();
        text += &if number == 0 { terminal.paint(&line, Style::Title) } else { line };
        text.push('\n');
    }
    if proposals.is_empty() {
        return "no proposals\n".to_owned();
    }
    text + &format!("{}, {waiting} waiting for approval\n", count(proposals.len(), "proposal"))
}

fn json_of(proposal: &Proposal) -> Value {
    let Proposal { metadata, spec, status, .. } = proposal;
    json!({
        "name": name_of(proposal), "plan_id": spec.plan_id, "cluster": spec.cluster.name, "class": spec.cluster.class,
        "check": spec.check, "tier": spec.tier, "actions": spec.action_count, "phase": proposal.phase(),
        "created_at": metadata.creation_timestamp.as_ref().map(|created| created.0.to_string()),
        "expires_at": spec.expires_at, "status": status,
    })
}
