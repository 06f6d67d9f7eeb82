"""What the site has beside its pages: generated pages and pictures, formulas, style."""
