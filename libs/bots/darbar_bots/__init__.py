"""How bots decide, from what one seat may see and nothing else. Start at policies.py."""
