//! CA bundles as kube-apiserver reads them.
//!
//! Invariants: what stands between blocks, blocks of other types and blocks with headers are passed over in silence; one
//! certificate that cannot be parsed spoils the whole bundle.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

/// Why a bundle is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadBundle {
    #[error("it holds no certificate in a PEM block without headers")]
    NoCertificate,
    #[error("certificate {0} in it cannot be parsed")]
    Unreadable(usize),
}

/// How many certificates a bundle holds.
///
/// # Errors
/// kube-apiserver would refuse the bundle.
pub fn count_certificates(bundle: &str) -> Result<usize, BadBundle> {
    let mut count = 0;
    for block in blocks(bundle).filter(|block| block.kind == "CERTIFICATE" && !block.has_headers) {
        count += 1;
        match x509_parser::parse_x509_certificate(&block.bytes) {
            Ok(([], _)) => {}
            Ok(_) | Err(_) => return Err(BadBundle::Unreadable(count)),
        }
    }
    if count == 0 { Err(BadBundle::NoCertificate) } else { Ok(count) }
}

/// When the last certificate of a bundle that can be read ends; nothing when there is none.
pub fn latest_end(bundle: &str) -> Option<Timestamp> {
    let certificates = blocks(bundle).filter(|block| block.kind == "CERTIFICATE" && !block.has_headers);
    let end = |block: Block<'_>| {
        let (_, certificate) = x509_parser::parse_x509_certificate(&block.bytes).ok()?;
        Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
    };
    certificates.filter_map(end).max()
}

struct Block<'a> {
    kind: &'a str,
    has_headers: bool,
    bytes: Vec<u8>,
}

/// The blocks that are whole, in order. Each END line is matched with the last BEGIN line before it.
fn blocks(bundle: &str) -> impl Iterator<Item = Block<'_>> {
    let mut begun: Option<(&str, Vec<&str>)> = None;
    bundle.split('\n').filter_map(move |line| {
        if let Some(kind) = marked(line, "-----BEGIN ") {
            begun = Some((kind, Vec::new()));
            return None;
        }
        if line.starts_with("-----END ") {
            let (kind, lines) = begun.take()?;
            return if marked(line, "-----END ") == Some(kind) { block(kind, &lines) } else { None };
        }
        if let Some((_, lines)) = &mut begun {
            lines.push(line);
        }
        None
    })
}

/// What stands between the mark and the dashes at the end of the line.
fn marked<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.trim_end_matches([' ', '\t', '\r']).strip_prefix(mark)?.strip_suffix("-----")
}

fn block<'a>(kind: &'a str, lines: &[&str]) -> Option<Block<'a>> {
    let headers = lines.iter().take_while(|line| line.contains(':')).count();
    let mut encoded: String = lines[headers..].concat();
    encoded.retain(|letter| !matches!(letter, ' ' | '\t' | '\r'));
    let bytes = STANDARD.decode(encoded).ok()?;
    Some(Block { kind, has_headers: headers > 0, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("../../../net/src/fixtures/ec.crt");

    #[test]
    fn a_bundle_is_read_as_kube_apiserver_reads_it() {
        let headed = GOOD.replacen("-----\n", "-----\nComment: mine\n\n", 1);
        let garbled = GOOD.replace("MII", "TII");
        let cases = [
            ("one", GOOD.to_owned(), Ok(1)),
            ("two with text between", format!("first\n{GOOD}\n# second\n{GOOD}"), Ok(2)),
            ("windows line ends", GOOD.replace('\n', "\r\n"), Ok(1)),
            ("nothing", String::new(), Err(BadBundle::NoCertificate)),
            ("blanks", "  \n ".to_owned(), Err(BadBundle::NoCertificate)),
            ("another type", GOOD.replace("CERTIFICATE", "TRUSTED CERTIFICATE"), Err(BadBundle::NoCertificate)),
            ("with headers", headed.clone(), Err(BadBundle::NoCertificate)),
            ("with headers, and a plain one", format!("{headed}{GOOD}"), Ok(1)),
            ("no base64", GOOD.replace("MII", "!!!"), Err(BadBundle::NoCertificate)),
            ("base64 of something else", garbled.clone(), Err(BadBundle::Unreadable(1))),
            ("one bad among good ones", format!("{GOOD}{garbled}{GOOD}"), Err(BadBundle::Unreadable(2))),
            ("cut short", GOOD.replace("-----END", ""), Err(BadBundle::NoCertificate)),
            ("ends with another type", GOOD.replace("END CERTIFICATE", "END X"), Err(BadBundle::NoCertificate)),
            ("begun twice", format!("-----BEGIN CERTIFICATE-----\nAAAA\n{GOOD}"), Ok(1)),
        ];
        for (case, bundle, expected) in cases {
            assert_eq!(count_certificates(&bundle), expected, "case: {case}");
        }
    }
}
