"""The service against a real NATS: what is asked is answered, whatever happens to the children."""
