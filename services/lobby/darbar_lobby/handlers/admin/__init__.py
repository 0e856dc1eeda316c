"""What administrators ask for and do. Begin with sessions.py."""
