/* For targets without longjmp: cmocka alone needs it. */
