/* Tests which orders of a page the network chooses from: that of the usual way (the rule that the model's
 * pages are usually read by) is always among them, is preferred, and is taken for small pages; orders that
 * cross the gutter between columns are candidates only if the white space and the pages that the model
 * learned from allow it. */
#include <math.h>
#include <string.h>

#include "random_model.h"
#include "tasks/layout/order/choose.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/order/ways.h"
#include "tasks/layout/usual_way.h"
#include "unit.h"

/* Columns of regions whose gaps differ a little, so that the rules (ways.h) give different orders. */
static void columns(page *p, int n) {
    rng r;
    rng_seed(&r, 3, 0);
    *p = (page){0};
    for (int i = 0; i < n; i++) {
        page_region *g = page_add(p, "", "paragraph", KIND_TEXT);
        assert_non_null(g);
        double x = i % 10 * 10, y = i / 10 * 10;
        g->box = (page_box){x, y + 3 * rng_uniform(&r), x + 9 + 1.5 * rng_uniform(&r),
                            y + 7 + 4 * rng_uniform(&r)};
        g->listed = true;
        g->given = i;
    }
    assert_int_equal(page_place(p, NULL, NULL), ONET_OK);
}

/* What the network judged: the number of orders, of those that cross what divides the page, and the order of
 * the usual way (choose.h). */
typedef struct seen {
    int32_t *usual; /* [n] */
    size_t count, crossing;
    double ahead; /* by how much the most probable other order is more probable */
} seen;

static void note(void *context, const page_alternative *orders, size_t count, size_t n, size_t usual) {
    seen *s = context;
    assert_true(usual < count);
    s->count = count;
    s->ahead = -HUGE_VAL;
    for (size_t k = 0; k < count; k++) {
        s->crossing += orders[k].crosses;
        if (k != usual && !orders[k].crosses)
            s->ahead = fmax(s->ahead, orders[k].logprob - orders[usual].logprob);
    }
    memcpy(s->usual, orders[usual].order, n * sizeof *s->usual);
}

/* Also on a large page, and whatever the number of the way. */
static void the_usual_way_is_always_tried(void **state) {
    enum { LARGE_PAGE = 620 };
    onet_settings settings = {page_feature_count(), 1, 8, 4, ONET_POOL_MEAN, 1, 8, 0, 0, {0}};
    onet_model *model = model_of(&settings, 5);
    onet_orderer *orderer;
    onet_order_options options;
    onet_order_defaults(&options, sizeof options);
    assert_int_equal(onet_orderer_new(&orderer, model, &options, NULL), ONET_OK);
    page p;
    page_layout l;
    int32_t order[LARGE_PAGE];
    seen s = {.usual = need(malloc(LARGE_PAGE * sizeof *s.usual))};
    columns(&p, LARGE_PAGE);
    assert_int_equal(page_layout_make(&l, &p, NULL), ONET_OK);
    for (int usual = 0; usual < page_way_count(); usual += 7) {
        pages_style style = {.usual = usual, .judged = note, .context = &s};
        page *pages[] = {&p};
        double confidence = -1;
        assert_int_equal(pages_choose(orderer, &style, pages, 1, &confidence, NULL), ONET_OK);
        assert_true(confidence > 0 && confidence < 1);
        assert_int_equal(page_way(usual, &l, order, NULL), ONET_OK);
        assert_memory_equal(s.usual, order, sizeof order);
        assert_true(s.count <= PAGE_WAY_RANKS + 1);
    }
    page_layout_free(&l);
    page_free(&p);
    free(s.usual);
    onet_orderer_free(orderer);
    onet_model_free(model);
}

/* Another order must be clearly more probable than that of the usual way, and more so if corrected pages have
 * shown that way. */
static void the_usual_way_is_preferred(void **state) {
    enum { REGIONS = 30 };
    onet_settings settings = {page_feature_count(), 1, 8, 4, ONET_POOL_MEAN, 1, 8, 0, 0, {0}};
    onet_order_options options;
    int32_t order[REGIONS];
    seen s = {.usual = order};
    int between = 0;
    onet_order_defaults(&options, sizeof options);
    for (int seed = 1; seed < 8; seed++)
        for (int usual = 0; usual < PAGE_WAY_RANKS; usual++) {
            onet_model *model = model_of(&settings, (uint64_t)seed);
            onet_orderer *orderer;
            assert_int_equal(onet_orderer_new(&orderer, model, &options, NULL), ONET_OK);
            page p, *pages[] = {&p};
            columns(&p, REGIONS);
            pages_style style = {.usual = usual, .judged = note, .context = &s};
            assert_int_equal(pages_choose(orderer, &style, pages, 1, NULL, NULL), ONET_OK);
            bool taken = true;
            for (int t = 0; t < REGIONS; t++) taken = taken && p.regions[order[t]].found == t;
            assert_int_equal(taken, s.ahead <= (usual == PAGE_WAY_GUTTERS ? 3 : 8));
            between += s.ahead > 3 && s.ahead <= 8;
            page_free(&p);
            onet_orderer_free(orderer);
            onet_model_free(model);
        }
    assert_true(between > 0);
}

/* On a page of up to PAGE_SMALL regions the usual way is always taken, with a fine-tuned model on one of up
 * to PAGE_SMALL_TUNED. */
static void small_pages_are_read_the_usual_way(void **state) {
    enum { MOST = PAGE_SMALL + 1 };
    onet_settings settings = {page_feature_count(), 1, 8, 4, ONET_POOL_MEAN, 1, 8, 0, 0, {0}};
    onet_order_options options;
    int32_t order[MOST];
    seen s = {.usual = order};
    onet_order_defaults(&options, sizeof options);
    for (int tuned = 0; tuned < 2; tuned++)
        for (int n = PAGE_SMALL_TUNED; n <= MOST; n++) {
            int others = 0;
            for (int seed = 1; seed < 30; seed++) {
                onet_model *model = model_of(&settings, (uint64_t)seed);
                onet_orderer *orderer;
                if (tuned) assert_int_equal(model_set_entry(model, "from.sha256", "00", NULL), ONET_OK);
                assert_int_equal(onet_orderer_new(&orderer, model, &options, NULL), ONET_OK);
                page p, *pages[] = {&p};
                columns(&p, n);
                pages_style style;
                assert_int_equal(pages_style_of(&style, model, NULL), ONET_OK);
                assert_int_equal(style.tuned, tuned);
                style.judged = note;
                style.context = &s;
                assert_int_equal(pages_choose(orderer, &style, pages, 1, NULL, NULL), ONET_OK);
                bool taken = true;
                for (int t = 0; t < n; t++) taken = taken && p.regions[order[t]].found == t;
                others += !taken;
                page_free(&p);
                onet_orderer_free(orderer);
                onet_model_free(model);
            }
            assert_int_equal(others > 0, n > (tuned ? PAGE_SMALL_TUNED : PAGE_SMALL));
        }
}

static bool is_kept(const page_layout *l, const char *way) {
    page_divisions d;
    int32_t order[8], place[8];
    int index = page_way_named(way);
    assert_true(index >= 0 && l->n <= 8);
    assert_int_equal(page_divisions_find(&d, l, NULL), ONET_OK);
    assert_int_equal(page_way(index, l, order, NULL), ONET_OK);
    for (int t = 0; t < l->n; t++) place[order[t]] = t;
    bool kept = page_divisions_kept(&d, index, place);
    page_divisions_free(&d);
    return kept;
}

/* Two columns of two paragraphs each, `white` high between these, and a gutter of 4. */
static void grid(page_layout *l, page *p, double white) {
    *p = (page){0};
    for (int i = 0; i < 4; i++) {
        page_region *g = page_add(p, "", "paragraph", KIND_TEXT);
        assert_non_null(g);
        double x = i % 2 * 34, y = i / 2 * (48 + white);
        g->box = (page_box){x, y, x + 30, y + 48};
        g->listed = true;
        g->given = i;
    }
    assert_int_equal(page_place(p, NULL, NULL), ONET_OK);
    assert_int_equal(page_layout_make(l, p, NULL), ONET_OK);
}

/* Rows may be read across a gutter only where the white that crosses the columns is wider than the gutter;
 * orders by rules without columns (prints, top-down) never may. */
static void gutters_are_crossed_only_by_wider_white(void **state) {
    page p;
    page_layout l;
    grid(&l, &p, 2);
    assert_true(is_kept(&l, "gutters"));
    assert_false(is_kept(&l, "rows:-0.003:-0.003:0"));
    assert_false(is_kept(&l, "prints"));
    page_layout_free(&l);
    page_free(&p);
    grid(&l, &p, 5);
    assert_true(is_kept(&l, "gutters"));
    assert_true(is_kept(&l, "rows:-0.003:-0.003:0"));
    assert_false(is_kept(&l, "prints"));
    assert_false(is_kept(&l, "top-down-whole"));
    page_layout_free(&l);
    page_free(&p);
}

/* What stands below the gutter of two columns is of neither: no allowed order has it before the right-hand
 * column. */
static void what_is_below_a_gutter_comes_last(void **state) {
    (void)state;
    static const page_box boxes[] = {{0, 0, 30, 98}, {34, 0, 64, 97}, {30, 102, 34, 104}};
    page p = {0};
    page_layout l;
    for (int i = 0; i < 3; i++) {
        page_region *g = page_add(&p, "", "paragraph", KIND_TEXT);
        assert_non_null(g);
        g->box = boxes[i];
        g->listed = true;
        g->given = i;
    }
    assert_int_equal(page_place(&p, NULL, NULL), ONET_OK);
    assert_int_equal(page_layout_make(&l, &p, NULL), ONET_OK);
    assert_true(is_kept(&l, "gutters"));
    assert_false(is_kept(&l, "columns:0:0:0"));
    page_layout_free(&l);
    page_free(&p);
}

/* Pages of a title show that it is read across gutters if at least two of them are, and at least a tenth; a
 * model that has not learned from such pages takes no order that crosses one. */
static void only_pages_that_cross_teach_it(void **state) {
    (void)state;
    enum { PAGES = 30 };
    onet_settings settings = {page_feature_count(), 1, 8, 4, ONET_POOL_MEAN, 1, 8, 0, 0, {0}};
    onet_model *model = model_of(&settings, 5);
    onet_orderer *orderer;
    onet_order_options options;
    page p[PAGES], *pages[PAGES];
    int32_t order[4];
    seen s = {.usual = order};
    bool cross;
    for (int k = 0; k < PAGES; k++) { /* grid() gives the order by rows: 0 and 1 are beside each other */
        page_layout l;
        grid(&l, &p[k], 2);
        page_layout_free(&l);
        pages[k] = &p[k];
    }
    for (int k = 3; k < PAGES; k++) p[k].regions[1].given = 2, p[k].regions[2].given = 1;
    assert_int_equal(pages_cross(&cross, pages, PAGES, NULL), ONET_OK);
    assert_true(cross);
    assert_int_equal(pages_cross(&cross, pages + 1, PAGES - 1, NULL), ONET_OK); /* two of 29 */
    assert_false(cross);
    assert_int_equal(pages_cross(&cross, pages + 2, 2, NULL), ONET_OK); /* one */
    assert_false(cross);
    onet_order_defaults(&options, sizeof options);
    assert_int_equal(onet_orderer_new(&orderer, model, &options, NULL), ONET_OK);
    for (int crosses = 0; crosses < 2; crosses++) {
        pages_style style = {.crosses = crosses, .usual = PAGE_WAY_GUTTERS, .judged = note, .context = &s};
        s.crossing = 0;
        assert_int_equal(pages_choose(orderer, &style, pages, 1, NULL, NULL), ONET_OK);
        assert_true(s.count > 1);
        assert_int_equal(s.crossing, crosses ? 0 : s.count - 1);
        /* On a page as small as this the usual way decides, whatever the network says. */
        for (int t = 0; t < 4; t++) assert_int_equal(p[0].regions[order[t]].found, t);
    }
    for (int k = 0; k < PAGES; k++) page_free(&p[k]);
    onet_orderer_free(orderer);
    onet_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_way_is_always_tried),
        cmocka_unit_test(the_usual_way_is_preferred),
        cmocka_unit_test(small_pages_are_read_the_usual_way),
        cmocka_unit_test(gutters_are_crossed_only_by_wider_white),
        cmocka_unit_test(what_is_below_a_gutter_comes_last),
        cmocka_unit_test(only_pages_that_cross_teach_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
