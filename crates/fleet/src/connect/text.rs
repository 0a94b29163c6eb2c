//! Names that resemble a name that was not found.

pub(crate) use trueup_net::printable;

/// Up to five of the known names, those that look most like the one asked for first.
pub fn nearest<'n>(asked: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut ranked: Vec<(usize, &str)> = known.map(|name| (strsim::levenshtein(asked, name), name)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(5).map(|(_, name)| printable(name, 80)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_names_come_first() {
        let known = ["prod-eu", "stage", "prod-us", "dev", "a", "b", "c"];
        assert_eq!(nearest("prod-eo", known.into_iter())[..2], ["prod-eu".to_owned(), "prod-us".to_owned()]);
        assert_eq!(nearest("x", known.into_iter()).len(), 5);
    }
}
