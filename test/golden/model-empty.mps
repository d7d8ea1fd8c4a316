*
* 0 variables, 0 rows, 0 terms; minimise
NAME model FREE
ROWS
 N objective
 G no.row
COLUMNS
 objective.constant objective 0
RHS
BOUNDS
 FX BOUND objective.constant 1
ENDATA
