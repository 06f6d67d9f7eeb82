"""What the theorems of papers 1 to 4 promise, beside what is measured."""
