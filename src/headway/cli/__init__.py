"""One file a verb: words on the command line to a few calls of the other rooms."""
