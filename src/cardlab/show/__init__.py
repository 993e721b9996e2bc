"""What people see of games and results: terminal, notebook, pictures, explanations."""
