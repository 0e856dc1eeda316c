"""The table service: one event stream a table, one owner, the players' sockets. Begin with app.py."""
