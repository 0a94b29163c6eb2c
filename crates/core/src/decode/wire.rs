//! The protobuf wire format: numbered fields, borrowed from the buffer.
//!
//! Invariants: a field that reaches past the end of its message is an error, so a message cut short is never read as a whole one.

/// The bytes are not the message they should be. Holds no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not valid protobuf")]
pub struct MalformedProtobuf;

/// What a field holds, as far as Kubernetes' metadata, Secrets and ConfigMaps use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A fixed-width number, which no field that is read has.
    Skipped,
}

/// A message, read field by field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a>(pub &'a [u8]);

impl<'a> Message<'a> {
    /// Hands each field to `each`, in the order of the bytes.
    pub fn fields(
        mut self,
        mut each: impl FnMut(u64, Value<'a>) -> Result<(), MalformedProtobuf>,
    ) -> Result<(), MalformedProtobuf> {
        while !self.0.is_empty() {
            let tag = self.number()?;
            let value = match tag & 7 {
                0 => Value::Number(self.number()?),
                1 => self.take(8).map(|_| Value::Skipped)?,
                2 => {
                    let length = usize::try_from(self.number()?).map_err(|_| MalformedProtobuf)?;
                    Value::Bytes(self.take(length)?)
                }
                5 => self.take(4).map(|_| Value::Skipped)?,
                // Groups, which proto3 and Kubernetes do not use, and numbers that mean nothing.
                _ => return Err(MalformedProtobuf),
            };
            each(tag >> 3, value)?;
        }
        Ok(())
    }

    /// A base-128 number of at most ten bytes.
    fn number(&mut self) -> Result<u64, MalformedProtobuf> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(MalformedProtobuf)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(MalformedProtobuf)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedProtobuf> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(MalformedProtobuf)?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'a> Value<'a> {
    pub fn bytes(self) -> Result<&'a [u8], MalformedProtobuf> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) | Self::Skipped => Err(MalformedProtobuf),
        }
    }

    pub fn text(self) -> Result<&'a str, MalformedProtobuf> {
        std::str::from_utf8(self.bytes()?).map_err(|_| MalformedProtobuf)
    }

    pub fn message(self) -> Result<Message<'a>, MalformedProtobuf> {
        Ok(Message(self.bytes()?))
    }

    pub fn number(self) -> Result<u64, MalformedProtobuf> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Bytes(_) | Self::Skipped => Err(MalformedProtobuf),
        }
    }

    /// A signed number, which is written as its two's complement.
    pub fn integer(self) -> Result<i64, MalformedProtobuf> {
        Ok(self.number()?.cast_signed())
    }

    pub fn boolean(self) -> Result<bool, MalformedProtobuf> {
        Ok(self.number()? != 0)
    }
}
