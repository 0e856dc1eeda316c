"""The child processes that decide: started, fed, ended, replaced. Begin with workers.py."""
