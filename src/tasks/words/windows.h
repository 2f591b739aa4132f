/* Windows: successive words of a sentence. Where they begin, how many are taken of each sentence and how long
 * they are can be set; all draws follow from the caller's random numbers. */
#ifndef SENTENCES_WINDOWS_H
#define SENTENCES_WINDOWS_H

#include <stdbool.h>

#include "engine/base/rng.h"
#include "ordernet.h"

enum { WINDOWS_LONGEST = 100, WINDOWS_MOST_RATE = 100 };

typedef enum window_sort {
    WINDOW_PARAGRAPH, /* at the beginning of a sentence that opens a paragraph */
    WINDOW_SENTENCE,  /* at the beginning of any other sentence */
    WINDOW_ANYWHERE,
    WINDOW_WHOLE, /* the sentence itself */
    WINDOW_SORTS
} window_sort;

/* Zeroed: no windows. */
typedef struct windows {
    double rate[WINDOW_SORTS];         /* windows per sentence of that sort; a fraction is a probability */
    double below[WINDOWS_LONGEST + 2]; /* below[k]: weight of all lengths smaller than k */
    int shortest, longest;
} windows;

typedef struct window {
    int from, count; /* words */
    window_sort sort;
} window;

enum { WINDOWS_OF_SENTENCE = WINDOW_SORTS * WINDOWS_MOST_RATE };

/* sorts: "paragraph:1,sentence:0.5,anywhere:2,whole:1"; a sort without a number has 1. lengths: "5", "2-20"
 * or "3-8:3,9-20": lengths and ranges, each length with the weight after the colon, or 1. */
onet_status windows_parse(windows *w, const char *sorts, const char *lengths, onet_error *err);

/* The windows of a sentence of n words into list; returns how many. 0 also where the sentence is shorter than
 * all lengths. Of the lengths only those that the sentence has are drawn. */
int windows_draw(const windows *w, rng *r, int n, bool opens_paragraph, window list[WINDOWS_OF_SENTENCE]);

#endif
