// ColorScience
