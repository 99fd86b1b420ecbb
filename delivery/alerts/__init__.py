"""Troubles of an account that people are told of: by e-mail, in chats and in the panel."""
