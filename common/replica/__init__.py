"""A read replica of PostgreSQL for answers that may be some seconds old, if DATABASE_REPLICA_URL is set.

`reading.may_be_old` marks such answers, `watch` measures how old they would be, `router` chooses the server for each
query, and `base` is the backend of its connections.
"""

ALIAS = "replica"
