"""What people ask about their personal data: found (`search`), exported (`export`), forgotten (`requests`)."""
