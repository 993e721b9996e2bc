"""Strength as a measurement: matches on paired deals, with intervals."""
