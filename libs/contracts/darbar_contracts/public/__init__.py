"""What everybody may ask for over HTTP, of every service. Begin with routes.py."""
