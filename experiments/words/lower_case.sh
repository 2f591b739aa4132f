#!/bin/bash
# Prints the list of words in src/tasks/words/sentence/sentence.c: those that occur inside sentences of WikiText-2
# (training text, capitals as written) in lower case in at least 90% of the cases, and begin a sentence with a capital
# at least 20 times or stand inside one at least 1,000 times. The last line says, on standard error, what share of the
# capitals at the beginning of sentences they are.
# usage: experiments/words/lower_case.sh ../shared/data/wikitext/wikitext2.train.tokens.xz
export LC_ALL=C
xz -dc "$1" | awk '
    !NF || $1 == "=" { next }
    {
        start = 1
        for (i = 1; i <= NF; i++) {
            word = $i
            if (word !~ /^[A-Za-z]+$/) { start = word ~ /^[.!?"(:\047]$/; continue }
            low = tolower(word)
            if (start && word != low) { begins[low]++; all++ }
            if (!start && word == low) lower[low]++
            if (!start && substr(word, 1, 1) != substr(low, 1, 1) && substr(word, 2) == substr(low, 2)) capital[low]++
            start = 0
        }
    }
    END {
        for (word in lower)
            if ((lower[word] >= 1000 || (begins[word] >= 20 && lower[word] >= 5)) && lower[word] >= 9 * capital[word]) { print word; found += begins[word] }
        printf "%.1f%% of %d capitals that begin a sentence\n", 100 * found / all, all > "/dev/stderr"
    }' | sort
