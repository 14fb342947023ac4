"""Values that several formats share."""

UNKNOWN_LANGUAGE = "und"  # the code of ISO 639 for a language that is not named
IMPOSSIBLE_LOGIT = -10000.0  # of an entry that must never be generated, in any precision
