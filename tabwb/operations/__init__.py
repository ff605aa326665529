"""What a user can do, declared once; command line, Python and workbench are made from it."""
