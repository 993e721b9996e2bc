"""Measuring strength: matches and tournaments on paired deals, with intervals."""
