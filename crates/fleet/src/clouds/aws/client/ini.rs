//! The shared config and credentials files of AWS, as far as they hold credentials. Pure, and keeps no text.
//!
//! Lines may end with CRLF and be indented with tabs. A line that is more indented than a key belongs to that key's
//! nested settings, of which none is needed here.

/// Sections in their order, with keys in theirs. Borrows everything from the text.
pub(super) struct Ini<'t> {
    sections: Vec<(&'t str, Vec<(&'t str, &'t str)>)>,
}

impl<'t> Ini<'t> {
    pub fn parse(text: &'t str) -> Self {
        let mut sections: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
        for line in text.lines() {
            let bare = line.trim();
            if bare.is_empty() || bare.starts_with(['#', ';']) {
                continue;
            }
            if let Some(title) = bare.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                sections.push((title.0.trim(), Vec::new()));
                continue;
            }
            let Some((_, entries)) = sections.last_mut() else { continue };
            let Some((key, value)) = bare.split_once('=') else { continue };
            // `s3 =` opens nested settings; their lines are indented and have keys of their own.
            let nested = line.starts_with([' ', '\t']) && entries.last().is_some_and(|(_, above)| above.is_empty());
            if !nested {
                entries.push((key.trim(), value.trim()));
            }
        }
        Self { sections }
    }

    pub fn has(&self, section: &str) -> bool {
        self.sections.iter().any(|(title, _)| same(title, section))
    }

    /// A value that is not empty. When a key stands twice, the last one counts, as in AWS's own readers.
    pub fn get(&self, section: &str, key: &str) -> Option<&'t str> {
        let mut entries =
            self.sections.iter().filter(|(title, _)| same(title, section)).flat_map(|(_, entries)| entries);
        let found = entries.rfind(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, value)| *value).filter(|value| !value.is_empty())
    }
}

/// `profile  x` and `profile x` are the same.
fn same(title: &str, section: &str) -> bool {
    title.split_whitespace().eq(section.split_whitespace())
}
