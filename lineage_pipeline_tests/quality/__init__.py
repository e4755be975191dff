"""The Great Expectations suites name the property that a broken table breaks."""
