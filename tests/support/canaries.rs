//! Values that stand for secrets: put into a world at random, then looked for in everything the program says.
//!
//! Always true: a value is recognised as it is, inside any base64 text wherever it begins there, and in hex and percent
//! form.

use std::hash::{BuildHasher, RandomState};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Values that must be in nothing the program writes.
#[derive(Default)]
pub struct Canaries {
    values: Vec<String>,
    /// How the values may look.
    forms: Vec<String>,
}

impl Canaries {
    /// A fresh value.
    pub fn next(&mut self) -> String {
        let value = format!("canary{:016x}", RandomState::new().hash_one(self.values.len()));
        self.guard(&value);
        value
    }

    /// A fresh value, as the API writes it.
    pub fn next_base64(&mut self) -> String {
        STANDARD.encode(self.next())
    }

    /// Watches a value that was there already, such as a private key's line.
    pub fn guard(&mut self, value: &str) {
        assert!(value.len() >= 8, "{value:?} may well be in a text by chance");
        self.values.push(value.to_owned());
        self.forms.push(value.to_owned());
        for offset in 0..3 {
            let core = base64_core(value, offset);
            self.forms.push(core.replace('+', "-").replace('/', "_"));
            self.forms.push(core);
        }
        let bytes = |form: fn(u8) -> String| value.bytes().map(form).collect::<String>();
        self.forms.push(bytes(|byte| format!("{byte:02x}")));
        self.forms.push(bytes(|byte| format!("{byte:02X}")));
        self.forms.push(bytes(|byte| format!("%{byte:02x}")));
        self.forms.push(bytes(|byte| format!("%{byte:02X}")));
    }

    /// Fails if a value stands in these bytes. `place` says where they come from.
    pub fn assert_absent(&self, place: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let leaked = self.forms.iter().find(|form| text.contains(form.as_str()));
        assert!(leaked.is_none(), "{place} holds a secret value, {leaked:?}:\n{text}");
    }
}

/// What base64 makes of a value that begins `offset` bytes after a multiple of three, without the letters at both ends
/// that depend on its neighbours.
fn base64_core(value: &str, offset: usize) -> String {
    let before = vec![0; offset];
    let encoded = STANDARD.encode([before.as_slice(), value.as_bytes()].concat());
    let whole = (offset + value.len()) / 3 * 4;
    encoded[(offset * 8).div_ceil(6)..whole].to_owned()
}

#[test]
fn a_value_is_found_in_base64_at_any_offset() {
    let mut canaries = Canaries::default();
    let value = canaries.next();
    canaries.assert_absent("a text without it", b"canary");
    for around in ["", "a", "ab", "abc"] {
        let text = STANDARD.encode(format!("{around}{value}{around}"));
        assert!(canaries.forms.iter().any(|form| text.contains(form.as_str())), "around: {around:?}");
    }
}
