"""The frame around every page: commands, menus, keys, docks, dialogs."""
