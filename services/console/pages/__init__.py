"""The pages for people, one file a page: rendered here, with nothing from elsewhere."""
