strip 4 5
1 1
