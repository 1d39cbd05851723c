"""Instruments for the persistent world `mmo`: its tiles, attacks and observations."""
