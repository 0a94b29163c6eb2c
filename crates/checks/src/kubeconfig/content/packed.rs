//! Text that may have been put into base64 once more than it should have been.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zeroize::Zeroizing;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// The alphabet of Secrets and PEM, padded or not.
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
/// The alphabet of tokens, padded or not.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Decodes base64 that may be folded over lines.
pub(super) fn decode(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let folded: Zeroizing<Vec<u8>> =
        Zeroizing::new(text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect());
    if folded.is_empty() {
        return None;
    }
    STANDARD.decode(folded.as_slice()).ok().map(Zeroizing::new)
}

/// Decodes a part of a token.
pub(super) fn decode_url(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    URL_SAFE.decode(text).ok().map(Zeroizing::new)
}

/// A value that is plain text, or base64 of it: providers write both. Nothing when it is neither.
pub fn unpacked_text(bytes: &[u8], is_plain: impl Fn(&str) -> bool) -> Option<Zeroizing<String>> {
    let plain = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).ok()?.trim();
        is_plain(text).then(|| Zeroizing::new(text.to_owned()))
    };
    plain(bytes).or_else(|| plain(&decode(bytes)?))
}
