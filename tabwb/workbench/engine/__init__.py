"""What the pages need of the engine: store, plugins, sessions, the worker's thread."""
