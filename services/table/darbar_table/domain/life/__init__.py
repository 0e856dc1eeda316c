"""The life of a table by the rules of docs/tables.md, one module a part of it. `decide` leads here."""
