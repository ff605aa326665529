"""Training the systems of the PSST challenge again: recipes, data, perturbations, one loop."""
