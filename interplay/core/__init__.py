"""The small protocol that every world speaks; this package knows no world."""
