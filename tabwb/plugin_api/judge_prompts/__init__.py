"""Judge prompts: files of data that say what is put to a model and how its labels are read."""
