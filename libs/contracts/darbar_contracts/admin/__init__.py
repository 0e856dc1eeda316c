"""For those who run Darbar: routes.py has their HTTP, api.py what is said there, disclosure.py what tables tell."""
