"""An environment that production starts in. Nothing listens at its servers' port."""

ENVIRONMENT = {
    "DATABASE_URL": "postgres://rota@127.0.0.1:1/rota",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "SECRET_KEY": "not-a-secret-" * 5,  # pragma: allowlist secret
    # pragma: allowlist nextline secret  # reads 'not-a-real-key…'
    "CREDENTIALS_KEYS": "bm90LWEtcmVhbC1rZXktYnV0LW9mLTMyLWJ5dGVzISE=",
    "ALLOWED_HOSTS": "rota.example.com",
}
