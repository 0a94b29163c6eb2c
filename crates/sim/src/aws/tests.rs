//! Unit tests of the simulated AWS that a client cannot observe.

use super::*;

#[test]
fn a_fault_affects_the_configured_number_of_calls() {
    let mut all = vec![AwsFault::refuse("A", 2, "Throttling"), AwsFault::refuse("B", 1, "X")];
    let strikes: Vec<bool> = (0..3).map(|_| faults::strike(&mut all, "A").is_some()).collect();
    assert_eq!(strikes, [true, true, false]);
    assert_eq!(all.len(), 1);
}

/// The example in AWS's documentation for deriving a signing key.
#[test]
fn the_signing_key_matches_the_example_of_aws() {
    let key = ["us-east-1", "iam", "aws4_request"]
        .iter()
        .fold(signature::mac(b"AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", b"20150830"), |key, word| {
            signature::mac(&key, word.as_bytes())
        });
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
}
