"""Whether answers are judged right: healthy fleets, planted drifts, answers that make no sense."""
