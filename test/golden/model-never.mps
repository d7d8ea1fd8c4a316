*
* 1 variables, 0 rows, 0 terms; minimise
NAME model FREE
ROWS
 N objective
 G no.row
COLUMNS
 MARKER 'MARKER' 'INTORG'
 v_0 objective 0
 MARKER 'MARKER' 'INTEND'
RHS
 RHS no.row 1
BOUNDS
 UP BOUND v_0 5
ENDATA
