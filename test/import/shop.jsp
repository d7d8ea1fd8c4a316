# two jobs, three machines

2 3
0 3  1 2  2 2
2 4  0 0  1 1
