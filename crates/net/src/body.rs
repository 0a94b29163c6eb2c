//! Reading a response body up to a limit.

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt as _;

/// Why a body could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError<E> {
    #[error("the response broke off")]
    BrokeOff(#[source] E),
    #[error("the response is larger than {}", limit(*.bytes_max))]
    TooLarge { bytes_max: usize },
}

/// A size limit, for people.
pub fn limit(bytes_max: usize) -> String {
    if bytes_max >= 1 << 20 { format!("{} MiB", bytes_max >> 20) } else { format!("{} KiB", bytes_max >> 10) }
}

/// Reads a body to its end.
///
/// # Errors
/// It breaks off, or holds more than `bytes_max`; then nothing past the limit is read.
pub async fn collect<B>(mut body: B, bytes_max: usize) -> Result<Bytes, BodyError<B::Error>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(BodyError::BrokeOff)?.into_data() else { continue };
        if collected.len() + data.len() > bytes_max {
            return Err(BodyError::TooLarge { bytes_max });
        }
        collected.extend_from_slice(&data);
    }
    Ok(collected.freeze())
}
