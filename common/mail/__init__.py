"""E-mail: recorded as rows in the caller's transaction, sent by workers through SMTP after the commit."""
