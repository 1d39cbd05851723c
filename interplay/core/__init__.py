"""The protocol that every world implements; this package imports no world."""
