"""Value factorisation from replayed sequences: VDN and QMIX (docs/value-factorisation.md)."""
