"""The one public port: which path is answered by what. Open this when a request doesn't reach its service."""
