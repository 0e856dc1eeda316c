"""The lobby's HTTP: public.py is for players, admin.py for administrators."""
