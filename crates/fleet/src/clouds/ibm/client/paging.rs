//! Pages: where the next one begins, and whether the way there ends.
//!
//! Invariant: a cursor that was followed before is an error, and so is a list without an end.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;

use super::error::Problem;

/// More pages than any account has: 100,000 resources at 100 a page.
const PAGES_MAX: usize = 1000;

/// The cursors of one list that were followed so far.
#[derive(Default)]
pub(super) struct Pages(BTreeSet<String>);

impl Pages {
    /// Takes the cursor of the next page.
    ///
    /// # Errors
    /// It was followed before, or there were too many.
    pub(super) fn follow(&mut self, cursor: String) -> Result<String, Problem> {
        if self.0.len() >= PAGES_MAX {
            return Err(Problem::TooManyPages(PAGES_MAX));
        }
        if self.0.insert(cursor.clone()) { Ok(cursor) } else { Err(Problem::PageLoop) }
    }
}

/// The value of `start` in a link to the next page, whole URL or only its end.
pub(super) fn start_of(link: &str) -> Option<String> {
    let (_, query) = link.split_once('?')?;
    let value = query.split('&').find_map(|pair| pair.strip_prefix("start="))?;
    let value = percent_decode_str(value).decode_utf8().ok()?.into_owned();
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_the_next_page_is_found_in_either_kind_of_link() {
        let cases = [
            ("a whole URL", "https://x/v1/vpcs?limit=2&start=abc&version=1", Some("abc")),
            ("only the end", "/v2/resource_instances?start=g1%2Fx", Some("g1/x")),
            ("no start", "https://x/v1/vpcs?limit=2", None),
            ("an empty start", "/v2/x?start=", None),
            ("no query", "/v2/x", None),
        ];
        for (case, link, expected) in cases {
            assert_eq!(start_of(link).as_deref(), expected, "case: {case}");
        }
    }

    #[test]
    fn a_cursor_that_comes_back_and_a_list_without_an_end_are_errors() {
        let mut pages = Pages::default();
        assert_eq!(pages.follow("a".into()), Ok("a".into()));
        assert_eq!(pages.follow("b".into()), Ok("b".into()));
        assert_eq!(pages.follow("a".into()), Err(Problem::PageLoop));
        let mut pages = Pages::default();
        let endless = (0..).map(|page| pages.follow(page.to_string())).find_map(Result::err);
        assert_eq!(endless, Some(Problem::TooManyPages(PAGES_MAX)));
    }
}
