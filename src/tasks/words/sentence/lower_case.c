/* English words that are written in lower case inside a sentence, and often begin one. */
#include "tasks/words/sentence/lower_case.h"

#include <stdlib.h>
#include <string.h>

/* From WikiText-2, by experiments/words/lower_case.sh; sorted. */
static const char *const common[] = {
    "a",          "about",        "according",  "additional", "additionally", "after",        "against",
    "album",      "almost",       "along",      "also",       "although",     "among",        "an",
    "and",        "another",      "antimony",   "apart",      "are",          "around",       "as",
    "aside",      "at",           "back",       "based",      "be",           "became",       "because",
    "been",       "before",       "began",      "beginning",  "behind",       "being",        "between",
    "born",       "both",         "but",        "by",         "cadmium",      "called",       "can",
    "cater",      "century",      "come",       "common",     "consequently", "construction", "could",
    "credits",    "critical",     "critics",    "damage",     "despite",      "due",          "during",
    "each",       "early",        "episode",    "europium",   "even",         "eventually",   "every",
    "film",       "finally",      "first",      "five",       "following",    "for",          "former",
    "found",      "four",         "from",       "further",    "furthermore",  "had",          "has",
    "have",       "having",       "he",         "her",        "him",          "his",          "how",
    "however",    "if",           "in",         "including",  "indeed",       "initially",    "inside",
    "instead",    "into",         "is",         "it",         "its",          "just",         "known",
    "large",      "late",         "later",      "like",       "living",       "local",        "located",
    "lowland",    "made",         "males",      "many",       "meanwhile",    "members",      "moment",
    "more",       "most",         "much",       "near",       "nevertheless", "no",           "nonetheless",
    "not",        "now",          "number",     "of",         "on",           "once",         "one",
    "only",       "or",           "originally", "other",      "others",       "out",          "outside",
    "over",       "overall",      "part",       "people",     "prior",        "retrieved",    "reviewers",
    "said",       "season",       "second",     "several",    "she",          "shortly",      "similar",
    "similarly",  "since",        "so",         "some",       "sometimes",    "soon",         "starting",
    "still",      "subsequently", "such",       "than",       "that",         "the",          "their",
    "them",       "then",         "there",      "therefore",  "these",        "they",         "this",
    "those",      "though",       "three",      "through",    "throughout",   "thus",         "time",
    "to",         "together",     "trees",      "true",       "two",          "ultimately",   "under",
    "underneath", "unlike",       "until",      "up",         "upon",         "used",         "using",
    "various",    "was",          "we",         "well",       "were",         "what",         "when",
    "where",      "which",        "while",      "who",        "with",         "within",       "without",
    "work",       "would",        "writing",    "written",    "xenon",        "year",         "years",
    "yet",
};

static int compare(const void *word, const void *entry) {
    return strcmp(word, *(const char *const *)entry);
}

bool lower_case_word(const char *lower) {
    return bsearch(lower, common, sizeof common / sizeof *common, sizeof *common, compare) != NULL;
}
