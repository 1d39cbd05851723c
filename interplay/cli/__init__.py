"""The command line: one file per verb; everything heavy is imported inside the verb that needs it."""
