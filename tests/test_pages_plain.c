/* Tests the shipped model together with the usual rule "gutters" on synthetic layouts with an undisputed
 * order: they must find it whatever the order of the regions in the file, the position and the size of the
 * page. */
#include <string.h>

#include "engine/base/choice.h"
#include "random_model.h"
#include "tasks/layout/generate.h"
#include "tasks/layout/order/choose.h"
#include "tasks/layout/order/rules.h"
#include "tasks/layout/order/ways.h"
#include "unit.h"

/* Of 200 pages of a family at most one may be wrong: 99.5% must be right. */
enum { PAGES = 200, MOST_WRONG = 1, MOST_REGIONS = 200 };

typedef struct ready {
    onet_model *model;
    onet_orderer *orderer;
    pages_style style;
} ready;

static void start(ready *r) {
    onet_order_options options;
    onet_error err;
    *r = (ready){.style = {.usual = PAGE_WAY_GUTTERS}};
    onet_order_defaults(&options, sizeof options);
    if (onet_model_load(&r->model, "models/pages.safetensors", &err)) fail_msg("%s", err.text);
    assert_int_equal(onet_orderer_new(&r->orderer, r->model, &options, NULL), ONET_OK);
}

static void end(ready *r) {
    onet_orderer_free(r->orderer);
    onet_model_free(r->model);
}

static void order(const ready *r, page *p) {
    assert_int_equal(pages_choose(r->orderer, &r->style, &p, 1, NULL, NULL), ONET_OK);
}

static bool right(const page *p) {
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].placed && p->regions[i].found != p->regions[i].given) return false;
    return true;
}

static void generate(page *p, int family, int number) {
    rng r;
    rng_seed(&r, 20, (uint64_t)family << 32 | (uint32_t)number);
    assert_int_equal(page_generate(p, (page_family)family, &r, NULL), ONET_OK);
}

static void every_family_is_right(void **state) {
    ready r;
    start(&r);
    for (int family = 0; family < PAGE_FAMILIES; family++) {
        int wrong = 0;
        for (int k = 0; k < PAGES; k++) {
            page p;
            generate(&p, family, k);
            if (family == FAMILY_RIGHT_TO_LEFT) page_mirror(&p);
            order(&r, &p);
            wrong += !right(&p);
            page_free(&p);
        }
        if (wrong > MOST_WRONG)
            fail_msg("%d of %d pages of family '%s' are wrong", wrong, PAGES,
                     choice_name(page_families(), family));
    }
    end(&r);
}

/* Returns whether each of the rules finds the given order. */
static bool all_rules_are_right(const page *p) {
    page_layout l;
    int32_t order[MOST_REGIONS], given[MOST_REGIONS];
    bool same = true;
    assert_true(p->placed <= MOST_REGIONS);
    assert_int_equal(page_layout_make(&l, p, NULL), ONET_OK);
    for (int i = 0, item = 0; i < p->count; i++)
        if (p->regions[i].placed) given[p->regions[i].given] = item++;
    for (const onet_choice *rule = page_rules(); rule->name && same; rule++) {
        assert_int_equal(rule_order((page_rule)rule->value, l.boxes, l.kind, l.n, l.lines, order, NULL),
                         ONET_OK);
        same = !memcmp(order, given, (size_t)l.n * sizeof *order);
    }
    page_layout_free(&l);
    return same;
}

/* Here not a single page may be wrong. */
static void pages_that_all_rules_get_right_are_right(void **state) {
    ready r;
    int agreed = 0;
    start(&r);
    for (int family = 0; family < FAMILY_RIGHT_TO_LEFT; family++)
        for (int k = 0; k < PAGES; k++) {
            page p;
            generate(&p, family, k);
            if (all_rules_are_right(&p)) {
                agreed++;
                order(&r, &p);
                if (!right(&p))
                    fail_msg("page %d of family '%s' is wrong, which all rules get right", k,
                             choice_name(page_families(), family));
            }
            page_free(&p);
        }
    assert_true(agreed > 20);
    end(&r);
}

/* The found place of each region stays the same. */
static void assert_same(const ready *r, page *p, page *changed, const int *from) {
    order(r, p);
    order(r, changed);
    for (int i = 0; i < p->count; i++)
        if (p->regions[from[i]].placed)
            assert_int_equal(changed->regions[i].found, p->regions[from[i]].found);
}

static void the_page_alone_decides(void **state) {
    ready r;
    start(&r);
    for (int family = 0; family < PAGE_FAMILIES; family++)
        for (int k = 0; k < 10; k++) {
            page p, other;
            generate(&p, family, k);
            generate(&other, family, k);
            int *from = need(malloc((size_t)p.count * sizeof *from));
            for (int i = 0; i < p.count; i++) from[i] = i;
            /* Larger, and elsewhere. */
            for (int i = 0; i < p.count; i++) {
                page_box *b = &other.regions[i].box;
                *b = (page_box){b->x0 * 0.37 + 1e4, b->y0 * 0.37 - 55.5, b->x1 * 0.37 + 1e4,
                                b->y1 * 0.37 - 55.5};
            }
            assert_same(&r, &p, &other, from);
            /* The regions reversed in the file. */
            for (int i = 0; i < p.count; i++) {
                from[i] = p.count - 1 - i;
                other.regions[i].box = p.regions[from[i]].box;
                other.regions[i].kind = p.regions[from[i]].kind;
                other.regions[i].placed = p.regions[from[i]].placed;
            }
            assert_same(&r, &p, &other, from);
            free(from);
            page_free(&p);
            page_free(&other);
        }
    end(&r);
}

/* Pages with their regions in reading order, of 100 by 140. */
static const struct {
    const char *what;
    int count;
    struct {
        page_box box;
        page_kind kind;
    } regions[9];
} single[] = {
    {"columns that all end and begin anew at one height",
     8,
     {{{0, 0, 30, 30}, KIND_TEXT},
      {{0, 31.5, 30, 60}, KIND_TEXT},
      {{31, 0, 61, 60}, KIND_TEXT},
      {{62, 0, 92, 20}, KIND_TEXT},
      {{62, 21.5, 92, 60}, KIND_TEXT},
      {{0, 62, 30, 140}, KIND_TEXT},
      {{31, 62, 61, 140}, KIND_TEXT},
      {{62, 62, 92, 140}, KIND_TEXT}}},
    {"columns one of which ends a little higher than the others",
     8,
     {{{0, 0, 30, 30}, KIND_TEXT},
      {{0, 31.5, 30, 60}, KIND_TEXT},
      {{0, 62, 30, 140}, KIND_TEXT},
      {{31, 0, 61, 58}, KIND_TEXT},
      {{31, 62, 61, 140}, KIND_TEXT},
      {{62, 0, 92, 20}, KIND_TEXT},
      {{62, 21.5, 92, 60}, KIND_TEXT},
      {{62, 62, 92, 140}, KIND_TEXT}}},
    {"two columns of notes below the text",
     5,
     {{{0, 0, 100, 80}, KIND_TEXT},
      {{0, 85, 48, 100}, KIND_NOTE},
      {{0, 101, 48, 140}, KIND_NOTE},
      {{52, 85, 100, 120}, KIND_NOTE},
      {{52, 121, 100, 140}, KIND_NOTE}}},
    {"a left column that begins lower than several paragraphs of the right one",
     6,
     {{{0, 60, 48, 90}, KIND_TEXT},
      {{0, 91, 48, 140}, KIND_TEXT},
      {{52, 0, 100, 20}, KIND_TEXT},
      {{52, 21, 100, 40}, KIND_TEXT},
      {{52, 41, 100, 55}, KIND_TEXT},
      {{52, 56, 100, 120}, KIND_TEXT}}},
    {"a title not quite over the middle of three columns",
     4,
     {{{35.5, 0, 67.5, 3}, KIND_TEXT},
      {{0, 5, 32, 139}, KIND_TEXT},
      {{34, 5, 66, 140}, KIND_TEXT},
      {{68, 5, 100, 138}, KIND_TEXT}}},
};

static void single_pages_are_right(void **state) {
    (void)state;
    ready r;
    start(&r);
    for (size_t c = 0; c < sizeof single / sizeof *single; c++) {
        page p = {0};
        for (int i = single[c].count - 1; i >= 0; i--) {
            page_region *g = page_add(&p, "", "", single[c].regions[i].kind);
            assert_non_null(g);
            g->box = single[c].regions[i].box;
            g->listed = true;
            g->given = i;
        }
        assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
        order(&r, &p);
        if (!right(&p)) fail_msg("wrong: %s", single[c].what);
        page_free(&p);
    }
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_is_right),
        cmocka_unit_test(pages_that_all_rules_get_right_are_right),
        cmocka_unit_test(the_page_alone_decides),
        cmocka_unit_test(single_pages_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
