"""Learning of whole teams from replayed stretches of play: VDN and QMIX (docs/value-factorisation.md)."""
