//! Providers are named in their own folders and at one registration place, and nowhere in `live`, the console or the
//! commands.

use super::rules::{Breach, SourceFile};
use super::wording::words;

/// The one file of the commands that names providers: it wires those of the demo.
const REGISTRATION: &str = "src/cli/clouds.rs";

/// The folders that know no provider.
const NEUTRAL: [&str; 3] = ["crates/fleet/src/live/", "src/cli/", "src/console/"];

const PROVIDERS: [&str; 2] = ["aws", "ibm"];

/// Every line of a neutral folder that names a provider. Comments and tests may.
pub fn named_providers(files: &[SourceFile]) -> Vec<Breach> {
    let is_neutral = |file: &&SourceFile| {
        NEUTRAL.iter().any(|folder| file.path.starts_with(folder)) && file.path != REGISTRATION && !file.is_test()
    };
    let mut breaches = Vec::new();
    for file in files.iter().filter(is_neutral) {
        for (line, code) in file.code() {
            for provider in PROVIDERS.iter().filter(|provider| words(code).any(|word| word == **provider)) {
                let message = format!("names the provider {provider}; use the port in fleet::clouds");
                breaches.push(Breach { place: format!("{}:{line}", file.path), message });
            }
        }
    }
    breaches
}

#[test]
fn a_provider_is_found_by_its_word_alone() {
    let cases = [
        ("a type", "let cache = AwsCache::new();", true),
        ("a function", "live.ibm_accounts()", true),
        ("text", "\"ibm:main\"", true),
        ("a constant", "const ASKS_AWS: u8 = 1;", true),
        ("part of another word", "fn draws(laws: Laws) { Draws }", false),
        ("the port", "live.cloud_accounts()", false),
    ];
    for (case, code, expected) in cases {
        let file = SourceFile::new("src/cli/x.rs", &format!("//! A file.\n\n{code}\n"));
        assert_eq!(!named_providers(&[file]).is_empty(), expected, "case: {case}");
    }
    let registered = SourceFile::new(REGISTRATION, "//! A file.\n\nuse AwsCache;\n");
    assert_eq!(named_providers(&[registered]), []);
}
