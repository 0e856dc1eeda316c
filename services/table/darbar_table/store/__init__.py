"""What the table service keeps in its database: events, their chain, the outbox. Begin with store.py."""
