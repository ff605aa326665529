"""Parts of the screens, each fed by frozen snapshots."""
