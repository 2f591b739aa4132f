/* Tests the rule "gutters" and the shipped model on synthetic layouts with an undisputed order: they must
 * find it whatever the order of the regions in the file, the position and the size of the page. */
#include <math.h>
#include <string.h>

#include "engine/base/choice.h"
#include "random_model.h"
#include "tasks/layout/generate.h"
#include "tasks/layout/order/choose.h"
#include "tasks/layout/order/ways.h"
#include "unit.h"

/* Of so many pages of a family at most so many may be wrong: 99.5%. */
enum { PAGES = 200, MOST_WRONG = 1 };

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
    (void)state;
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

/* The found place of each region stays the same. */
static void assert_same(const ready *r, page *p, page *changed, const int *from) {
    order(r, p);
    order(r, changed);
    for (int i = 0; i < p->count; i++)
        if (p->regions[from[i]].placed)
            assert_int_equal(changed->regions[i].found, p->regions[from[i]].found);
}

static void the_page_alone_decides(void **state) {
    (void)state;
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
            /* The other way round in the file. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_is_right),
        cmocka_unit_test(the_page_alone_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
