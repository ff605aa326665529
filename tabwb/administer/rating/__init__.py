"""What people rate: samples, plans, sessions, consensus and adjudication."""
