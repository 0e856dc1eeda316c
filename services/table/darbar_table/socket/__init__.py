"""The players' sockets: bytes to commands, frames to bytes. Begin with session.py."""
