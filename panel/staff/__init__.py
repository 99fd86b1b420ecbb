"""Pages of account staff: bringing accounts in, requests about personal data."""
