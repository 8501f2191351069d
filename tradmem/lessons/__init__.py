"""What outcomes teach: reflections, recall and the track record."""
