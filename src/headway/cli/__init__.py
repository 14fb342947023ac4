"""The command line: one file for each verb, which parses its options and calls the other packages."""
