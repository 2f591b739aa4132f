/* Tests the public API for reading orders of pages (ordernet_pages.h) without a model: the order of boxes,
 * read from the left or the right, also with a separator; the confidence; the types that names of regions
 * stand for; and what is refused. */
#include <math.h>

#include "ordernet_pages.h"
#include "random_model.h"
#include "unit.h"

static const double boxes[][4] = {
    {0, 0, 48, 40}, {52, 0, 100, 40}, {0, 44, 48, 100}, {52, 44, 100, 100}, {0, 41, 100, 43}};
enum { N = sizeof boxes / sizeof *boxes };

static void orders_boxes_without_a_model(void **state) {
    onet_pages *pages;
    int32_t order[N];
    int count;
    const int32_t rule[N] = {0, 0, 0, 0, ONET_REGION_SEPARATOR};
    assert_int_equal(onet_pages_new(&pages, NULL, NULL, NULL), ONET_OK);
    assert_int_equal(onet_pages_order(pages, boxes[0], NULL, N - 1, 0, order, &count, NULL), ONET_OK);
    assert_int_equal(count, N - 1);
    assert_memory_equal(order, ((int32_t[]){0, 2, 1, 3}), 4 * sizeof *order);
    assert_int_equal(onet_pages_order(pages, boxes[0], NULL, N - 1, 1, order, &count, NULL), ONET_OK);
    assert_memory_equal(order, ((int32_t[]){1, 3, 0, 2}), 4 * sizeof *order);
    /* A rule across the page divides it. */
    assert_int_equal(onet_pages_order(pages, boxes[0], rule, N, 0, order, &count, NULL), ONET_OK);
    assert_int_equal(count, N - 1);
    assert_memory_equal(order, ((int32_t[]){0, 1, 2, 3}), 4 * sizeof *order);
    double confidence = -1; /* without a network: 0 */
    assert_int_equal(
        onet_pages_order_confidence(pages, boxes[0], NULL, N - 1, 0, order, &count, &confidence, NULL),
        ONET_OK);
    assert_true(confidence == 0 && count == N - 1);
    assert_int_equal(onet_pages_order_confidence(pages, boxes[0], NULL, 1, 0, order, &count, NULL, NULL),
                     ONET_USAGE);
    assert_int_equal(onet_pages_order(pages, NULL, NULL, 0, 0, NULL, &count, NULL), ONET_OK);
    assert_int_equal(count, 0);
    onet_pages_free(pages);
}

static void refuses_what_is_no_page(void **state) {
    onet_pages *pages;
    onet_error err;
    int32_t order[1];
    int count;
    const double bad[4] = {0, 0, NAN, 1};
    onet_settings settings = {3, 1, 8, 4, ONET_POOL_MEAN, 1, 8, 0, 0, {0}};
    onet_model *model = model_of(&settings, 5);
    assert_int_equal(onet_pages_new(&pages, model, NULL, &err), ONET_BAD);
    assert_null(pages);
    assert_int_equal(onet_pages_new(&pages, NULL, NULL, &err), ONET_OK);
    assert_int_equal(onet_pages_order(pages, bad, NULL, 1, 0, order, &count, &err), ONET_BAD);
    assert_int_equal(onet_pages_order(pages, boxes[0], (int32_t[]){9}, 1, 0, order, &count, &err), ONET_BAD);
    assert_int_equal(onet_pages_order(pages, NULL, NULL, 1, 0, order, &count, &err), ONET_USAGE);
    onet_pages_free(pages);
    onet_model_free(model);
}

static void knows_the_names_of_types(void **state) {
    assert_int_equal(onet_region_of("Section_Header"), ONET_REGION_HEADING);
    assert_int_equal(onet_region_of("page-number"), ONET_REGION_FURNITURE);
    assert_int_equal(onet_region_of("footnote"), ONET_REGION_NOTE);
    assert_int_equal(onet_region_of("picture"), ONET_REGION_OTHER);
    assert_int_equal(onet_region_of("separator"), ONET_REGION_SEPARATOR);
    assert_int_equal(onet_region_of("anything"), ONET_REGION_TEXT);
    assert_int_equal(onet_region_of(NULL), ONET_REGION_TEXT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_boxes_without_a_model),
        cmocka_unit_test(refuses_what_is_no_page),
        cmocka_unit_test(knows_the_names_of_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
