"""The photos in Datasets: where each license is stated, which photos are kin, and what is held out."""
