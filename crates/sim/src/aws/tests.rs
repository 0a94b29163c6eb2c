//! The simulated AWS by itself: what its client can't see.

use super::*;

#[test]
fn a_fault_strikes_as_often_as_it_was_told() {
    let mut all = vec![AwsFault::refuse("A", 2, "Throttling"), AwsFault::refuse("B", 1, "X")];
    let strikes: Vec<bool> = (0..3).map(|_| faults::strike(&mut all, "A").is_some()).collect();
    assert_eq!(strikes, [true, true, false]);
    assert_eq!(all.len(), 1);
}

/// The example of AWS's own documentation for deriving a signing key.
#[test]
fn the_signing_key_is_derived_as_aws_shows_it() {
    let key = ["us-east-1", "iam", "aws4_request"]
        .iter()
        .fold(signature::mac(b"AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", b"20150830"), |key, word| {
            signature::mac(&key, word.as_bytes())
        });
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
}
