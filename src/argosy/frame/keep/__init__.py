"""Where the columns of a persisted frame lie: in RAM as far as a plan says that it is worth it, the rest on disk."""
