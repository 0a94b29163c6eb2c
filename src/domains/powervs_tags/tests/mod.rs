//! The worlds this check is tried on.
