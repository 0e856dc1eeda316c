"""Real PostgreSQL and NATS servers out of wheels. Open this when a machine has neither Docker nor installed servers."""
