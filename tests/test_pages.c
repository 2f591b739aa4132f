/* Tests pages: the orders that rules give, with separators, columns and regions inside others among them;
 * features and augmented variants; files of every format, written with their order reversed and read again.
 */
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "tasks/layout/augment.h"
#include "tasks/layout/commands.h"
#include "tasks/layout/format.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/order/rules.h"
#include "tasks/layout/order/ways.h"
#include "tasks/layout/usual_way.h"
#include "unit.h"

/* Two columns of two regions, and a heading over both. */
static const page_box grid[] = {
    {52, 20, 100, 58}, {0, 20, 48, 60}, {0, 0, 100, 10}, {52, 64, 100, 100}, {0, 64, 48, 100}};
enum { GRID = sizeof grid / sizeof *grid };

static void assert_order(const int32_t *order, const int *right, int n) {
    for (int i = 0; i < n; i++) assert_int_equal(order[i], right[i]);
}

static void rules_order_as_they_say(void **state) {
    int32_t order[GRID];
    assert_int_equal(rule_order(RULE_TOP_DOWN, grid, NULL, GRID, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){2, 1, 0, 4, 3}, GRID);
    page_box two[] = {grid[0], grid[1], grid[3], grid[4]}; /* without the heading both cuts are possible */
    assert_int_equal(rule_order(RULE_ROWS, two, NULL, 4, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){1, 0, 3, 2}, 4);
    assert_int_equal(rule_order(RULE_COLUMNS, two, NULL, 4, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){1, 3, 0, 2}, 4);
    assert_int_equal(rule_order(RULE_BANDS, grid, NULL, GRID, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){2, 1, 4, 0, 3}, GRID);
}

static void rows_of_the_rule_gutters(void **state) {
    (void)state;
    int32_t order[7];
    /* A low row is read from its highest region on. */
    page_box low[] = {{80, 0, 100, 2}, {0, 1, 20, 3}, {0, 10, 100, 100}};
    assert_int_equal(rule_order(RULE_GUTTERS, low, NULL, 3, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){0, 1, 2}, 3);
    /* Two columns that begin with a short paragraph each: these are no headlines, under which the columns
     * would go on with the three regions at the foot. */
    page_box short_ones[] = {{0, 0, 48, 8},     {52, 0, 100, 8},    {0, 12, 48, 100},   {52, 12, 100, 100},
                             {0, 104, 18, 200}, {30, 104, 48, 200}, {52, 104, 100, 200}};
    assert_int_equal(rule_order(RULE_GUTTERS, short_ones, NULL, 7, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){0, 2, 1, 3, 4, 5, 6}, 7);
}

/* `boxes` with `lines` separators behind them are in their order. */
static void assert_gutters(const page_box *boxes, int n, int lines) {
    int32_t order[16];
    assert_int_equal(rule_gutters(boxes, NULL, n, lines, order, NULL, NULL, NULL), ONET_OK);
    for (int i = 0; i < n; i++) assert_int_equal(order[i], i);
}

/* Pages whose order is unambiguous. */
static void plain_pages_of_the_rule_gutters(void **state) {
    (void)state;
    /* Boxes that overlap by 7% of a column, the right one a hair higher, with a separator and without. */
    const page_box overlap[] = {{.06, .062, .371, .92}, {.349, .06, .66, .92}, {.36, .06, .36, .92}};
    assert_gutters(overlap, 2, 1);
    assert_gutters(overlap, 2, 0);
    /* The same where the paragraphs' boxes overlap at other places each. */
    const page_box ragged[] = {{.05, .06, .36, .3},  {.05, .31, .34, .6},  {.05, .61, .37, .92},
                               {.345, .06, .66, .4}, {.335, .41, .66, .7}, {.35, .71, .66, .92}};
    assert_gutters(ragged, 6, 0);
    /* A column a fifth as wide as its neighbour: a full-height separator stands between them. */
    const page_box narrow[] = {{.05, .06, .147, .373},
                               {.05, .379, .147, .947},
                               {.17, .06, .6, .3},
                               {.17, .31, .6, .947},
                               {.159, .05, .159, .95}};
    assert_gutters(narrow, 4, 1);
    /* Two columns, divided by white that is ten times as high as the gutter is wide. */
    const page_box bands[] = {
        {.05, .06, .365, .45}, {.385, .06, .7, .45}, {.05, .65, .365, .93}, {.385, .65, .7, .93}};
    assert_gutters(bands, 4, 0);
    /* A running title and a page number over three columns, a foot under the gutter of two of them. */
    const page_box titled[] = {{.2, .03, .4, .042},   {.66, .03, .7, .042}, {.06, .08, .26, .5},
                               {.06, .506, .26, .92}, {.28, .08, .48, .7},  {.28, .706, .48, .92},
                               {.5, .08, .7, .92},    {.27, .94, .43, .952}};
    assert_gutters(titled, 8, 0);
}

static void trimmed_boxes_are_cut_where_they_overlap(void **state) {
    /* Two columns whose boxes overlap, and more so than the paragraphs in them. */
    const page_box boxes[] = {{0, 0, 53, 48}, {0, 48, 53, 100}, {47, 0, 100, 50}, {47, 49, 100, 100}};
    int32_t order[4];
    assert_int_equal(rule_xy_cut(&(xy_cut){false, 0, 0, 0.04}, boxes, 4, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){0, 1, 2, 3}, 4);
    assert_int_equal(rule_xy_cut(&(xy_cut){false, 0, 0, 0}, boxes, 4, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){0, 2, 1, 3}, 4);
}

/* Two separators stand in what boxes of two columns share. */
static void the_order_of_separators_does_not_matter(void **state) {
    (void)state;
    static const page_box boxes[] = {
        {79, 114, 687, 493},     {64, 506, 699, 931},     {71, 943, 676, 1340},    {74, 1354, 653, 1686},
        {66, 1691, 697, 1901},   {62, 1901, 660, 2154},   {61, 2175, 663, 2216},   {83, 2221, 684, 2377},
        {69, 2382, 642, 2526},   {61, 2549, 684, 2911},   {624, 129, 1222, 561},   {630, 581, 1224, 944},
        {613, 955, 1213, 1272},  {611, 1257, 1231, 1587}, {641, 1610, 1246, 1745}, {609, 1768, 1190, 2016},
        {613, 2038, 1217, 2458}, {609, 2481, 1201, 2814}, {360, 33, 1065, 72},     {663, 664, 663, 1869},
        {618, 989, 618, 1946},   {570, 2014, 1819, 2014}};
    enum { ALL = sizeof boxes / sizeof *boxes, LINES = 3, REGIONS = ALL - LINES };
    page_kind kinds[REGIONS];
    page_box turned[ALL];
    int32_t order[REGIONS], again[REGIONS];
    onet_error err;
    for (int i = 0; i < REGIONS; i++) kinds[i] = KIND_TEXT;
    memcpy(turned, boxes, sizeof boxes);
    for (int i = 0; i < LINES; i++) turned[REGIONS + i] = boxes[ALL - 1 - i];
    assert_int_equal(rule_gutters(boxes, kinds, REGIONS, LINES, order, NULL, NULL, &err), ONET_OK);
    assert_int_equal(rule_gutters(turned, kinds, REGIONS, LINES, again, NULL, NULL, &err), ONET_OK);
    assert_memory_equal(order, again, sizeof order);
}

static void add_region(page *p, page_box box, page_kind kind) {
    page_region *g = page_add(p, "", "", kind);
    assert_non_null(g);
    g->box = box;
    g->listed = kind != KIND_SEPARATOR;
    g->given = g->listed ? p->count - 1 : -1;
}

static void random_page(page *p, int n, uint64_t seed) {
    rng r;
    rng_seed(&r, seed, 0);
    *p = (page){0};
    for (int i = 0; i < n; i++) {
        page_region *g = page_add(p, "", "paragraph", (page_kind)rng_below(&r, 5));
        assert_non_null(g);
        double x = rng_uniform(&r), y = rng_uniform(&r);
        g->box = (page_box){x, y, x + 0.2 * rng_uniform(&r), y + 0.1 * rng_uniform(&r)};
        g->listed = true;
        g->given = i;
    }
    assert_int_equal(page_place(p, NULL, NULL), ONET_OK);
    assert_true(p->ordered);
}

static void regions_inside_others_are_read_with_them(void **state) {
    enum { N = 7 };
    const page_box boxes[N] = {{0, 0, 48, 50},   {52, 0, 100, 50}, {0, 52, 48, 100}, {52, 52, 100, 100},
                               {40, 45, 47, 49}, {53, 1, 60, 5},   {54, 2, 56, 4}};
    page p = {0};
    page_layout l;
    int32_t order[N];
    for (int i = 0; i < N; i++) add_region(&p, boxes[i], KIND_TEXT);
    assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
    assert_int_equal(page_layout_make(&l, &p, NULL), ONET_OK);
    assert_order(l.host, (int[]){-1, -1, -1, -1, 0, 1, 1}, N); /* 6 lies in 5, which lies in 1 */
    assert_int_equal(page_way(2, &l, order, NULL), ONET_OK);   /* rows first */
    assert_order(order, (int[]){0, 4, 6, 5, 1, 2, 3}, N);
    assert_int_equal(page_way(3, &l, order, NULL), ONET_OK); /* columns first */
    assert_order(order, (int[]){0, 4, 2, 6, 5, 1, 3}, N);
    page_layout_free(&l);
    page_free(&p);
}

static void ways_have_names_of_their_own(void **state) {
    for (int k = 0; k < page_way_count(); k++) {
        char name[PAGE_WAY_NAME];
        assert_int_equal(page_way_named(page_way_name(k, name)), k);
        assert_true(strlen(name) < PAGE_WAY_NAME - 1);
    }
    assert_int_equal(page_way_named("prints-upside-down"), -1);
}

/* Columns with a gap between rows: the rule of gutters reads them by columns. */
static void the_usual_way_is_right_on_two_pages_more(void **state) {
    enum { N = 4, PAGES = 3 };
    const page_box boxes[N] = {{0, 0, 48, 40}, {52, 0, 100, 40}, {0, 60, 48, 100}, {52, 60, 100, 100}};
    const int by_columns[N] = {0, 2, 1, 3}, by_rows[N] = {0, 1, 2, 3};
    page p[PAGES] = {0}, *pages[PAGES];
    page_layout l;
    int32_t order[N];
    int way;
    for (int k = 0; k < PAGES; k++) {
        pages[k] = &p[k];
        for (int i = 0; i < N; i++) add_region(&p[k], boxes[i], KIND_TEXT);
        for (int i = 0; i < N; i++) p[k].regions[i].listed = true, p[k].regions[i].given = by_rows[i];
        assert_int_equal(page_place(&p[k], NULL, NULL), ONET_OK);
    }
    assert_int_equal(pages_usual_way(&way, pages, PAGES, NULL), ONET_OK);
    assert_int_not_equal(way, PAGE_WAY_GUTTERS);
    assert_int_equal(page_layout_make(&l, &p[0], NULL), ONET_OK);
    assert_int_equal(page_way(way, &l, order, NULL), ONET_OK);
    assert_order(order, by_rows, N);
    page_layout_free(&l);
    for (int i = 0; i < N; i++) p[0].regions[i].given = by_columns[i]; /* now two pages against one */
    assert_int_equal(pages_usual_way(&way, pages, PAGES, NULL), ONET_OK);
    assert_int_equal(way, PAGE_WAY_GUTTERS);
    for (int k = 0; k < PAGES; k++) page_free(&p[k]);
}

/* A page of a book: a running title and, a little higher, the page number at its right; a paragraph with an
 * initial, and one whose note begins higher; two columns, the left one a little lower. */
static void prints_are_read_from_the_top_but_for_initials_and_columns(void **state) {
    enum { N = 8 };
    const page_box boxes[N] = {{20, 1, 80, 4}, {90, 0, 96, 4},   {10, 10, 90, 40}, {11, 11, 20, 20},
                               {0, 44, 9, 50}, {10, 45, 90, 60}, {10, 66, 48, 90}, {52, 65, 90, 90}};
    page_kind kinds[N] = {KIND_FURNITURE, KIND_FURNITURE, KIND_TEXT, KIND_HEADING,
                          KIND_NOTE,      KIND_TEXT,      KIND_TEXT, KIND_TEXT};
    page_box moved[N];
    int32_t order[N];
    assert_int_equal(rule_order(RULE_PRINTS, boxes, kinds, N, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){1, 0, 3, 2, 4, 5, 6, 7}, N);
    assert_int_equal(rule_order(RULE_TOP_DOWN, boxes, kinds, N, 0, order, NULL), ONET_OK);
    assert_order(order, (int[]){1, 0, 2, 3, 4, 5, 7, 6}, N);
    assert_int_equal(rule_prints(TITLES_LEFT_FIRST, boxes, kinds, N, order, NULL), ONET_OK);
    assert_order(order, (int[]){0, 1, 3, 2, 4, 5, 6, 7}, N);
    memcpy(moved, boxes, sizeof moved);
    moved[1] = (page_box){4, 0, 10, 4}; /* the page number at the left */
    assert_int_equal(rule_prints(TITLES_LEFT_FIRST, moved, kinds, N, order, NULL), ONET_OK);
    assert_order(order, (int[]){1, 0, 3, 2, 4, 5, 6, 7}, N);
    assert_int_equal(rule_prints(TITLES_WIDEST_FIRST, moved, kinds, N, order, NULL), ONET_OK);
    assert_order(order, (int[]){0, 1, 3, 2, 4, 5, 6, 7}, N);
    /* At the foot a signature mark and, lower and at its right, a catch-word instead of the columns. */
    page_kind foot[N];
    memcpy(foot, kinds, sizeof foot);
    foot[6] = foot[7] = KIND_FURNITURE;
    moved[6] = (page_box){40, 92, 60, 95};
    moved[7] = (page_box){80, 93, 90, 96};
    assert_int_equal(rule_prints(TITLES_HIGHEST_FIRST, moved, foot, N, order, NULL), ONET_OK);
    assert_order(order, (int[]){1, 0, 3, 2, 4, 5, 6, 7}, N);
    assert_int_equal(rule_prints(TITLES_CATCHWORD_FIRST, moved, foot, N, order, NULL), ONET_OK);
    assert_order(order, (int[]){1, 0, 3, 2, 4, 5, 7, 6}, N);
    const struct {
        page_box instead_of_the_initial;
        page_kind kind;
    } others[] = {
        {{11, 28, 20, 38}, KIND_TEXT},      /* in the lower half */
        {{60, 11, 69, 20}, KIND_TEXT},      /* at the right */
        {{11, 11, 45, 39}, KIND_TEXT},      /* a column in a frame */
        {{11, 11, 20, 20}, KIND_FURNITURE}, /* not text */
    };
    for (size_t c = 0; c < sizeof others / sizeof *others; c++) {
        memcpy(moved, boxes, sizeof moved);
        moved[3] = others[c].instead_of_the_initial;
        kinds[3] = others[c].kind;
        assert_int_equal(rule_order(RULE_PRINTS, moved, kinds, N, 0, order, NULL), ONET_OK);
        assert_order(order, (int[]){1, 0, 2, 3, 4, 5, 6, 7}, N);
    }
}

/* A box around two columns of two regions, in one of which lies another: the cuts do not see the box. */
static void frames_are_read_before_what_they_hold(void **state) {
    enum { N = 7 };
    const page_box boxes[N] = {{52, 20, 98, 58}, {2, 20, 48, 60},   {0, 0, 100, 10}, {52, 64, 98, 98},
                               {2, 64, 48, 98},  {0, 18, 100, 100}, {30, 90, 40, 95}};
    page p = {0};
    page_layout l;
    int32_t order[N];
    for (int i = 0; i < N; i++) add_region(&p, boxes[i], KIND_TEXT);
    assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
    assert_int_equal(page_layout_make(&l, &p, NULL), ONET_OK);
    assert_order(l.frame, (int[]){5, 5, -1, 5, 5, 5, 5}, N);
    assert_order(l.host, (int[]){-1, -1, -1, -1, -1, -1, 4}, N);
    assert_int_equal(page_way(2, &l, order, NULL), ONET_OK); /* rows first */
    assert_order(order, (int[]){2, 5, 1, 0, 4, 6, 3}, N);
    assert_int_equal(page_way(10, &l, order, NULL), ONET_OK); /* bands */
    assert_order(order, (int[]){2, 5, 1, 4, 6, 0, 3}, N);
    page_layout_free(&l);
    page_free(&p);
}

/* Two columns of three regions with a row gap right across the page. */
static void separators_are_not_cut_through(void **state) {
    enum { N = 6 };
    const page_box boxes[N] = {{0, 0, 48, 30},   {0, 33, 48, 60},   {0, 63, 48, 100},
                               {52, 0, 100, 30}, {52, 33, 100, 60}, {52, 63, 100, 100}};
    const struct {
        page_box separator;
        int lines, right[N];
    } cases[] = {
        {{49, 0, 51, 61}, 1, {0, 1, 3, 4, 2, 5}},    /* between the columns of the two upper rows */
        {{49, -50, 51, 150}, 1, {0, 1, 2, 3, 4, 5}}, /* all the way, and beyond the regions */
        {{49, 1, 51, 4}, 0, {0, 3, 1, 4, 2, 5}},     /* too short */
        {{0, 31, 48, 32}, 0, {0, 3, 1, 4, 2, 5}},    /* between paragraphs of one column */
        {{0, 31, 100, 32}, 1, {0, 3, 1, 4, 2, 5}},   /* over both columns: a cut beside it, not through it */
        {{49, 0, 60, 20}, 0, {0, 3, 1, 4, 2, 5}},    /* not a line */
        {{120, 0, 121, 99}, 0, {0, 3, 1, 4, 2, 5}},  /* beside the page */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        page p = {0};
        page_layout l;
        int32_t order[N];
        for (int i = 0; i < N; i++) add_region(&p, boxes[i], KIND_TEXT);
        add_region(&p, cases[c].separator, KIND_SEPARATOR);
        assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
        assert_int_equal(p.placed, N);
        assert_int_equal(page_layout_make(&l, &p, NULL), ONET_OK);
        assert_int_equal(l.lines, cases[c].lines);
        assert_int_equal(rule_order(RULE_SEPARATORS, l.boxes, l.kind, l.n, l.lines, order, NULL), ONET_OK);
        assert_order(order, cases[c].right, N);
        assert_int_equal(page_way(13, &l, order, NULL), ONET_OK);
        assert_order(order, cases[c].right, N);
        page_layout_free(&l);
        page_free(&p);
    }
}

/* A separator changes the features, and a page whose separators divide nothing has those of a page without.
 */
static void separators_are_features(void **state) {
    enum { N = 40 };
    page p;
    random_page(&p, N, 4);
    size_t size = (size_t)N * (size_t)page_feature_count();
    float *without = malloc(size * sizeof *without), *with = malloc(size * sizeof *with);
    assert_int_equal(page_features(&p, without, NULL), ONET_OK);
    add_region(&p, (page_box){0.5, 0.5, 0.501, 0.51}, KIND_SEPARATOR);
    assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
    assert_int_equal(page_features(&p, with, NULL), ONET_OK);
    assert_memory_equal(without, with, size * sizeof *with);
    p.regions[N].box = (page_box){0.5, 0.1, 0.501, 0.9};
    assert_int_equal(page_features(&p, with, NULL), ONET_OK);
    assert_memory_not_equal(without, with, size * sizeof *with);
    free(without);
    free(with);
    page_free(&p);
}

static void every_rule_gives_a_permutation(void **state) {
    enum { N = 5000 };
    page p;
    random_page(&p, N, 1);
    page_layout l;
    int32_t *order = malloc(N * sizeof *order);
    char *seen = malloc(N);
    for (int i = 100; i < 200; i++) p.regions[i].box = p.regions[99].box; /* the same box many times */
    for (int i = 1; i < 10; i++) add_region(&p, (page_box){0.1 * i, 0, 0.1 * i, 0.2 * i}, KIND_SEPARATOR);
    assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
    assert_int_equal(page_layout_make(&l, &p, NULL), ONET_OK);
    assert_true(l.lines > 5);
    for (int rule = 0; rule < PAGE_RULES + page_way_count(); rule++) {
        if (rule < PAGE_RULES)
            assert_int_equal(rule_order((page_rule)rule, l.boxes, l.kind, N, l.lines, order, NULL), ONET_OK);
        else
            assert_int_equal(page_way(rule - PAGE_RULES, &l, order, NULL), ONET_OK);
        memset(seen, 0, N);
        for (int i = 0; i < N; i++) seen[order[i]]++;
        for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    }
    page_layout_free(&l);
    free(order);
    free(seen);
    page_free(&p);
}

static void scale_and_shift_do_not_matter(void **state) {
    enum { N = 40 };
    page p;
    random_page(&p, N, 2);
    size_t size = (size_t)N * (size_t)page_feature_count();
    float *one = malloc(size * sizeof *one), *other = malloc(size * sizeof *other);
    assert_int_equal(page_features(&p, one, NULL), ONET_OK);
    for (int i = 0; i < N; i++) {
        page_box *b = &p.regions[i].box;
        *b = (page_box){4096 * b->x0 + 512, 4096 * b->y0 - 64, 4096 * b->x1 + 512, 4096 * b->y1 - 64};
    }
    assert_int_equal(page_features(&p, other, NULL), ONET_OK);
    for (size_t i = 0; i < size; i++) assert_true(fabsf(one[i] - other[i]) < 1e-4f);
    free(one);
    free(other);
    page_free(&p);
}

static void variants_are_pages_with_an_order(void **state) {
    page p, variant;
    random_page(&p, 30, 3);
    for (int i = 0; i < 20; i++) add_region(&p, (page_box){0.05 * i, 0, 0.05 * i, 1}, KIND_SEPARATOR);
    assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
    rng r;
    rng_seed(&r, 1, 1);
    int fewer = 0;
    for (int k = 0; k < 200; k++) {
        assert_int_equal(page_variant(&variant, &p, &r, NULL), ONET_OK);
        assert_true(variant.ordered);
        assert_true(variant.placed >= 3 && variant.placed <= 60);
        for (int i = 0; i < variant.count; i++) {
            assert_int_equal(variant.regions[i].given, i < variant.placed ? i : -1);
            assert_true(page_box_valid(&variant.regions[i].box));
        }
        int lines = variant.count - variant.placed;
        assert_true(lines > 5 && lines <= 20);
        fewer += lines < 20;
        page_free(&variant);
    }
    assert_true(fewer > 100);
    assert_int_equal(page_without_context(&variant, &p, NULL), ONET_OK);
    assert_true(variant.ordered && variant.count == 30 && variant.placed == 30);
    for (int i = 0; i < variant.count; i++) {
        assert_int_equal(variant.regions[i].given, p.regions[i].given);
        assert_memory_equal(&variant.regions[i].box, &p.regions[i].box, sizeof p.regions[i].box);
    }
    page_free(&variant);
    page_free(&p);
}

/* Regions on one line have no height to measure by. */
static void variants_of_a_flat_page(void **state) {
    page p, variant;
    random_page(&p, 9, 3);
    for (int i = 0; i < p.count; i++) p.regions[i].box.y0 = p.regions[i].box.y1 = 7;
    rng r;
    rng_seed(&r, 1, 1);
    for (int k = 0; k < 50; k++) {
        assert_int_equal(page_variant(&variant, &p, &r, NULL), ONET_OK);
        for (int i = 0; i < variant.count; i++) assert_true(page_box_valid(&variant.regions[i].box));
        page_free(&variant);
    }
    page_free(&p);
}

/* A block's own numbers are its box; one without them has that of its outline, or none. */
static void boxes_of_alto(void **state) {
    static const char text[] = "<alto><Layout><Page><PrintSpace>"
                               "<TextBlock HPOS='1' VPOS='2' WIDTH='3' HEIGHT='4'><Shape><Polygon "
                               "POINTS='0,0 9,9'/></Shape></TextBlock>"
                               "<TextBlock HPOS='1' VPOS='2' WIDTH='3'><Shape><Polygon POINTS='5,20 9,20 "
                               "9,29 5 29'/></Shape></TextBlock>"
                               "<TextBlock><Shape><Polygon POINTS='5,20 9'/></Shape></TextBlock>"
                               "</PrintSpace></Page></Layout></alto>";
    const page_box expected[] = {{1, 2, 4, 6}, {5, 20, 9, 29}};
    page_file f;
    onet_error err;
    if (page_file_from(&f, "test", text, strlen(text), NULL, &err)) fail_msg("%s", err.text);
    assert_int_equal(f.pages[0].count, 3);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(&f.pages[0].regions[i].box, &expected[i], sizeof *expected);
    page_file_free(&f);
}

/* Reverses the order of a file's pages, writes it and reads it again: the order must be the reversed one. */
static void reverse(const char *text) {
    page_file f, again;
    onet_error err;
    char *changed;
    size_t size;
    if (page_file_from(&f, "test", text, strlen(text), NULL, &err)) fail_msg("%s", err.text);
    page *p = &f.pages[0];
    assert_true(p->placed > 1);
    for (int i = 0; i < p->count; i++)
        p->regions[i].found =
            p->regions[i].placed ? p->placed - 1 - (p->ordered ? p->regions[i].given : i) : -1;
    assert_int_equal(f.format->change(&f, &err), ONET_OK);
    assert_int_equal(page_text_changed(&f.text, &changed, &size, &err), ONET_OK);
    if (page_file_from(&again, "again", changed, size, NULL, &err)) fail_msg("%s in %s", err.text, changed);
    const page *q = &again.pages[0];
    assert_int_equal(again.count, f.count);
    assert_int_equal(q->placed, p->placed);
    assert_true(q->ordered);
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < q->count; k++)
            if (p->regions[i].placed && !strcmp(p->regions[i].id, q->regions[k].id))
                assert_int_equal(q->regions[k].given, p->regions[i].found);
    free(changed);
    page_file_free(&f);
    page_file_free(&again);
}

#define REGIONS                                                                                              \
    "<TextRegion id='a'><Coords points='0,0 9,9'/></TextRegion>"                                             \
    "<TextRegion id='b'><Coords points='0,20 9,29'/></TextRegion>"                                           \
    "<TableRegion id='&lt;c'><Coords><Point x='0' y='40'/><Point x='9' y='49'/></Coords></TableRegion>"

static void written_orders_are_read_again(void **state) {
    reverse("<PcGts><Page>" REGIONS "</Page></PcGts>");
    reverse("<PcGts><Page><TextRegion id='a' custom='readingOrder {index:7;}'/>"
            "<TextRegion id='b' custom='x {index:1;} readingOrder {index:3;}'/></Page></PcGts>");
    reverse("<p:PcGts xmlns:p='x'><p:Page><p:Border><p:Coords points='0,0 9,9'/></p:Border>"
            "<p:TextRegion id='a'/><p:TextRegion id='b'/></p:Page></p:PcGts>");
    reverse("<PcGts><Page><ReadingOrder><OrderedGroup id='o'><RegionRefIndexed index='4' regionRef='b'/>"
            "<RegionRefIndexed index='2' regionRef='a'/><RegionRefIndexed regionRef='&lt;c' "
            "index='9'></RegionRefIndexed>"
            "</OrderedGroup></ReadingOrder>" REGIONS "</Page></PcGts>");
    reverse("<PcGts><Page><ReadingOrder><UnorderedGroup id='o'><RegionRef regionRef='b'/><RegionRef "
            "regionRef='a'/>"
            "</UnorderedGroup ></ReadingOrder>" REGIONS "</Page></PcGts>");
    reverse("<alto><Layout><Page><PrintSpace><TextBlock ID='a' HPOS='0' VPOS='0' WIDTH='9' HEIGHT='9'/>"
            "<!-- > --><TextBlock ID='b'><Shape><Polygon POINTS='0,20 "
            "9,29'/></Shape></TextBlock><Illustration ID='i'/>"
            "<ComposedBlock ID='c' HPOS='0' VPOS='40' WIDTH='9' "
            "HEIGHT='9'/></PrintSpace></Page></Layout></alto>");
    reverse("<alto><ReadingOrder><OrderedGroup><ElementRef REF='b'/><ElementRef "
            "REF='a'/></OrderedGroup></ReadingOrder>"
            "<Layout><Page><PrintSpace><TextBlock ID='a'/><TextBlock "
            "ID='b'/></PrintSpace></Page></Layout></alto>");
    reverse("<html><body><div class='x ocr_page'><p class='ocr_par' id='a'>1 &gt; 0<br/></p>"
            "<p class='ocr_par' id='b' title='x; bbox 1 2 3 4'/></div></body></html>");
    /* Which element </li> ends does not depend on the order of those before it. */
    reverse("<html><div class='ocr_page'><li>x<div><li class='ocr_par' id='a'>1<li class='ocr_par' id='b'/>"
            "</li></div><div class='ocr_page'></div>");
    reverse(
        "[{\"id\": \"a\", \"bbox\": [1, 2, 3, 4]}, {\"id\": \"b\", \"x\": 1, \"y\": 2, \"w\": 3, \"h\": 4}]");
}

static void five_thousand_regions(void **state) {
    char *text = malloc(1 << 20);
    size_t at = (size_t)sprintf(text, "<PcGts><Page>");
    for (int i = 0; i < 5000; i++)
        at += (size_t)sprintf(text + at, "<TextRegion id='r%d'><Coords points='%d,%d %d,%d'/></TextRegion>",
                              i, i % 50 * 20, i / 50 * 20, i % 50 * 20 + 15, i / 50 * 20 + 15);
    sprintf(text + at, "</Page></PcGts>");
    reverse(text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_order_as_they_say),
        cmocka_unit_test(rows_of_the_rule_gutters),
        cmocka_unit_test(plain_pages_of_the_rule_gutters),
        cmocka_unit_test(trimmed_boxes_are_cut_where_they_overlap),
        cmocka_unit_test(the_order_of_separators_does_not_matter),
        cmocka_unit_test(regions_inside_others_are_read_with_them),
        cmocka_unit_test(ways_have_names_of_their_own),
        cmocka_unit_test(the_usual_way_is_right_on_two_pages_more),
        cmocka_unit_test(prints_are_read_from_the_top_but_for_initials_and_columns),
        cmocka_unit_test(frames_are_read_before_what_they_hold),
        cmocka_unit_test(separators_are_not_cut_through),
        cmocka_unit_test(separators_are_features),
        cmocka_unit_test(every_rule_gives_a_permutation),
        cmocka_unit_test(scale_and_shift_do_not_matter),
        cmocka_unit_test(variants_are_pages_with_an_order),
        cmocka_unit_test(variants_of_a_flat_page),
        cmocka_unit_test(boxes_of_alto),
        cmocka_unit_test(written_orders_are_read_again),
        cmocka_unit_test(five_thousand_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
