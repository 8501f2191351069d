"""What happened afterwards: sessions, prices, and the outcome of one decision."""
