//! `trueup schema`: the JSON Schemas (draft 2020-12) of what trueup reads and writes, as they are published in
//! `docs/schemas`.

use super::args::{SchemaArgs, SchemaName};
use super::error::CliError;
use super::terminal::print;
use trueup_core::engine::text::Printable;

pub fn run(args: &SchemaArgs) -> Result<u8, CliError> {
    print(&Printable::json(text(args.name)))?;
    Ok(0)
}

/// The schema, as its file holds it.
pub fn text(name: SchemaName) -> &'static str {
    match name {
        SchemaName::Plan => include_str!("../../docs/schemas/plan.json"),
        SchemaName::Journal => include_str!("../../docs/schemas/journal.json"),
        SchemaName::Fleet => include_str!("../../docs/schemas/fleet.json"),
        SchemaName::Config => include_str!("../../docs/schemas/config.json"),
    }
}
