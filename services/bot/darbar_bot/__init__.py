"""The bot service: decides for bot seats, stateless. Start at app.py; how to decide is in libs/bots."""
