"""What happens when people ask for something: one method for each thing that they do."""
