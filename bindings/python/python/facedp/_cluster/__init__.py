"""What `facedp.ray` is made of. Each file has one part, so that a process imports no more than it needs."""
