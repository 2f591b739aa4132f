/* Defines the largest numbers of threads, features, blocks and channels that may be asked for: the library
 * checks them, and the options of commands have them as ranges. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
    MAX_THREADS = 4096,
    MAX_WIDTH = 65536, /* features per item, numbers per vector */
    MAX_BLOCKS = 64,   /* of the encoder, and of the decoder */
    MAX_HIDDEN = 8192, /* channels in an encoder block */
    MAX_OUT = 4096     /* channels that a block adds */
};

#endif
