# Prints sets of 2 to 10 random numbers with their ascending order, as JSON Lines, for the command-line tests:
# awk -v seed=1 -v count=100 -f sets.awk
function next_number() { return x = x * 16807 % 2147483647 }
BEGIN {
    x = seed
    for (s = 0; s < count; s++) {
        n = 2 + next_number() % 9
        for (i = 0; i < n; i++) {
            v[i] = next_number() % 1000 / 1000
            o[i] = i
        }
        for (i = 0; i < n; i++)
            for (j = i; j > 0 && v[o[j]] < v[o[j - 1]]; j--) {
                t = o[j]
                o[j] = o[j - 1]
                o[j - 1] = t
            }
        items = order = ""
        for (i = 0; i < n; i++) {
            items = items (i ? ", " : "") "[" v[i] "]"
            order = order (i ? ", " : "") o[i]
        }
        print "{\"items\": [" items "], \"order\": [" order "]}"
    }
}
