"""Instruments that know the persistent world `mmo`: its tiles, its attacks, its observations."""
