"""Codes of errors that a client repeats. Made from src/contract by "npm run generate"."""

NOT_BEGUN = frozenset(
    {
        "rate_limited",
        "pool_full",
        "acquire_timeout",
        "overloaded",
    }
)
"""Refused before anything began."""

PASSING = frozenset(
    {
        "offset_mismatch",
        "idempotency_in_progress",
        "upload_locked",
        "rate_limited",
        "checksum_mismatch",
        "unreachable",
        "connection_lost",
        "pool_full",
        "acquire_timeout",
        "too_slow",
        "overloaded",
        "draining",
        "database_away",
        "connect_timeout",
        "stall_timeout",
    }
)
"""May pass, whether begun or not."""
