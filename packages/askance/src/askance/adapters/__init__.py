"""Models and loops of other packages under our query rules and budgets: scikit-learn, river, scikit-activeml."""
