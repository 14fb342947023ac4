"""Models in and out: one file a foreign format, each exact or refused, and the certificate."""
