"""What is counted, and the numbers behind every chart."""
