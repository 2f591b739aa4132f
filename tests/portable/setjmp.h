/* Empty replacement of <setjmp.h> for WebAssembly, which has no longjmp: of the tests only cmocka uses it. */
