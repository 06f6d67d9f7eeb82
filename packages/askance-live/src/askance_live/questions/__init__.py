"""Questions and what people say to them: the queue, answers, consensus, corrections, reviews."""
