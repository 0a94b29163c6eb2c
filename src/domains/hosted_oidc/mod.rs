//! Orphaned OIDC copies in HyperShift guests.
