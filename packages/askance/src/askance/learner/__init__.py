"""The heart of the project: rules, budgets, the loop, and the classifier that plays a stream with them."""
