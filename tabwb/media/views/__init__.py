"""What people are shown of each kind of result: columns, titles and notes, declared once."""
