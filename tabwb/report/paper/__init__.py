"""What goes into a paper: tables, methods, references, figures as files, and reports."""
