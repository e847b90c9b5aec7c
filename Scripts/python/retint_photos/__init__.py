"""The photos in Datasets: where each license is stated, and which photos are kin."""
