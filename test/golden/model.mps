* all kinds: 1\x0aé
* 22 variables, 7 rows, 34 terms; minimise
* v_20: op 'a\x09b\x7f'
*
* 00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
* 00000000000000000000000000000000000000000000000000000000000007
NAME all_kinds__1___ FREE
ROWS
 N objective
 E r_0
 L r_1
 G r_2
 G r_3
 G r_4
 G r_5
 G long_row
COLUMNS
 v_0 objective 1
 v_0 long_row -1
 v_1 objective 2
 v_1 r_1 -1
 v_1 r_2 1
 v_1 r_3 1
 v_1 long_row 1
 v_2 objective -1
 v_2 long_row 1000002
 v_3 objective 0
 v_3 r_3 -1
 v_3 r_5 1
 v_3 long_row -1
 v_4 objective 1
 v_4 r_4 -1
 v_4 long_row 1
 v_5 objective 2
 v_5 long_row 1000005
 v_6 objective -1
 v_6 long_row -1
 v_7 objective 0
 v_7 long_row 1
 v_8 objective 1
 v_8 long_row 1000008
 v_9 objective 2
 v_9 long_row -1
 MARKER 'MARKER' 'INTORG'
 v_10 objective 1
 v_10 long_row 1
 v_11 objective 2
 v_11 r_1 1
 v_11 r_2 1
 v_11 long_row 1000011
 v_12 objective -1
 v_12 long_row -1
 v_13 objective 0
 v_13 r_4 -1
 v_13 long_row 1
 v_14 objective 1
 v_14 r_5 1
 v_14 long_row 1000014
 v_15 objective 2
 v_15 long_row -1
 v_16 objective -1
 v_16 long_row 1
 v_17 objective 0
 v_17 long_row 1000017
 v_18 objective 1
 v_18 long_row -1
 v_19 objective 2
 v_19 long_row 1
 v_20 objective -12
 v_20 r_0 1
 v_20 long_row 1000020
 v_21 objective 0
 v_21 r_0 -4
 v_21 long_row -1
 MARKER 'MARKER' 'INTEND'
 objective.constant objective -5
RHS
 RHS r_0 -3
 RHS r_1 100
 RHS r_2 -60
 RHS r_3 -50
 RHS r_5 -70
RANGES
 RANGE r_3 100
 RANGE r_4 70
 RANGE r_5 70
 RANGE long_row 99
BOUNDS
 FR BOUND v_1
 LO BOUND v_2 -7
 UP BOUND v_2 8
 MI BOUND v_3
 UP BOUND v_3 -2
 MI BOUND v_4
 UP BOUND v_4 3
 LO BOUND v_5 2
 FX BOUND v_6 4
 FX BOUND v_7 0
 UP BOUND v_8 1
 UP BOUND v_9 12345678901234
 PL BOUND v_10
 FR BOUND v_11
 LO BOUND v_12 -7
 UP BOUND v_12 8
 MI BOUND v_13
 UP BOUND v_13 -2
 MI BOUND v_14
 UP BOUND v_14 3
 LO BOUND v_15 2
 PL BOUND v_15
 FX BOUND v_16 4
 FX BOUND v_17 0
 BV BOUND v_18
 UP BOUND v_19 12345678901234
 BV BOUND v_20
 FX BOUND v_21 1
 FX BOUND objective.constant 1
ENDATA
