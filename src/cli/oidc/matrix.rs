//! `trueup oidc matrix`: issuer, audience, mappings and CA expiry of every cluster, with the odd ones marked.
//!
//! Exit codes: 0 every cluster was read; 3 some were not; 1 for invalid input.

use serde_json::{Map, Value, json};

use super::super::args::ExplainFormat;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::terminal::print;
use super::{NOT_ACCEPTED, chosen};
use trueup_checks::external_oidc::{Token, identity_matrix};
use trueup_checks::{FleetCell, FleetTable, RowKnowledge};
use trueup_core::engine::text::{Printable, printable_json};

/// Stands before what differs from most.
const ODD: &str = "!=";

pub async fn run(context: &Context, token: Option<Token>, format: ExplainFormat) -> Result<u8, CliError> {
    let fleet = chosen::connect(context).await?;
    let table = fleet.ask(move |live| identity_matrix(live.view(), token.as_ref())).await;
    let table = table.map_err(|error| CliError::operate("oidc", &error))?;
    let text = match format {
        ExplainFormat::Json => format!("{}\n", printable_json(&json_of(&table).to_string())),
        ExplainFormat::Table => {
            let lines = table.lines(ODD, |text| context.terminal.safe(text));
            lines.into_iter().map(|(_, line)| line + "\n").collect()
        }
    };
    print(&Printable::styled(&text))?;
    let is_known = table.rows.iter().all(|row| row.knowledge == RowKnowledge::Known);
    Ok(if is_known { 0 } else { NOT_ACCEPTED })
}

fn json_of(table: &FleetTable) -> Value {
    let cell = |(name, cell): (&&str, &FleetCell)| {
        let name = name.to_lowercase().replace(' ', "_");
        (name, json!({ "value": cell.text(), "odd": cell.is_odd() }))
    };
    let rows = table.rows.iter().map(|row| {
        let cells: Map<String, Value> = table.columns.iter().zip(&row.cells).map(cell).collect();
        json!({ "cluster": row.cluster.as_str(), "class": row.class.as_str(), "note": row.note,
            "known": row.knowledge == RowKnowledge::Known, "odd": row.is_odd(), "values": cells })
    });
    json!({ "schema": "trueup/identity-matrix/v1", "clusters": rows.collect::<Vec<Value>>() })
}
