//! The findings as CSV: one row each, quoted as in RFC 4180.
//!
//! Invariants: no cell starts with a character that a spreadsheet interprets as a formula.

use std::collections::BTreeMap;

use super::Page;
use super::vocabulary::would_run;
use trueup_core::engine::text::{Charset, printable};

const HEADER: [&str; 11] =
    ["id", "domain", "cluster", "kind", "namespace", "name", "state", "verdict", "codes", "summary", "actions"];

/// Renders the rows under their header.
pub fn csv(page: &Page<'_>) -> String {
    let mut text = HEADER.join(",") + "\n";
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    for action in &page.plan.actions {
        let note = if would_run(action) { "" } else { " (not selected or blocked)" };
        lines.insert(&action.id, format!("{} {}{note}", action.id, action.verb().as_str()));
    }
    for finding in &page.plan.findings {
        let actions: Vec<String> = finding.actions.iter().filter_map(|id| lines.remove(id.as_str())).collect();
        let cells = [
            finding.id.as_str(),
            &finding.domain,
            &finding.cluster,
            &finding.subject.kind,
            finding.subject.namespace.as_deref().unwrap_or_default(),
            &finding.subject.name,
            finding.state.as_str(),
            &finding.verdict,
            &finding.codes.join(" "),
            &finding.summary,
            &actions.join("; "),
        ];
        text.push_str(&cells.map(cell).join(","));
        text.push('\n');
    }
    text
}

fn cell(text: &str) -> String {
    let mut safe = printable(text, Charset::Unicode);
    if safe.starts_with(['=', '+', '-', '@']) {
        safe.insert(0, '\'');
    }
    if safe.contains([',', '"', '\n', '\r']) || safe.starts_with(' ') || safe.ends_with(' ') {
        return format!("\"{}\"", safe.replace('"', "\"\""));
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_computed() {
        let cases = [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@cmd,x", "\"'@cmd,x\""),
            ("\tx", "\\u{9}x"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(cell(text), expected, "text: {text:?}");
        }
    }
}
