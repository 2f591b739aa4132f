#!/usr/bin/env python3
"""Writes tests/data/matching.txt: random costs and the cost of their cheapest perfect matching by networkx.

Each line: n, the cost, then the n(n-1)/2 costs of pairs (0,1), (0,2), ..., (n-2,n-1).
Run from the repository root: python3 reference/matching_networkx.py > tests/data/matching.txt
"""
import random

import networkx

rng = random.Random(7)
for case in range(60):
    n = (4, 6, 8, 12, 16, 20)[case % 6]
    most = (3, 20, 1000)[case // 6 % 3]
    if case % 2:  # points on a grid: many ties, nested blossoms
        at = [(rng.randrange(most + 1), rng.randrange(most + 1)) for _ in range(n)]
        cost = {(i, j): abs(at[i][0] - at[j][0]) + abs(at[i][1] - at[j][1]) for i in range(n) for j in range(i + 1, n)}
    else:
        cost = {(i, j): rng.randrange(most + 1) for i in range(n) for j in range(i + 1, n)}
    graph = networkx.Graph()
    for (i, j), c in cost.items():
        graph.add_edge(i, j, weight=c)
    pairs = networkx.min_weight_matching(graph)
    assert 2 * len(pairs) == n
    total = sum(cost[min(a, b), max(a, b)] for a, b in pairs)
    print(n, total, *cost.values())
