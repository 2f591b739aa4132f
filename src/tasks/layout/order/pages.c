/* Implements the public API for reading orders of pages (ordernet_pages.h): gives the kind of a region by its
 * type, and the order of boxes and kinds with its confidence. */
#include <stdlib.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_pages.h"
#include "tasks/layout/order/choose.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/order/ways.h"

struct onet_pages {
    onet_orderer *orderer; /* NULL: by the rule alone */
    pages_style style;
};

onet_region onet_region_of(const char *type) {
    static const struct {
        const char *name;
        onet_region region;
    } names[] = {
        {"title", ONET_REGION_HEADING},
        {"doc_title", ONET_REGION_HEADING},
        {"section_header", ONET_REGION_HEADING},
        {"section-header", ONET_REGION_HEADING},
        {"paragraph_title", ONET_REGION_HEADING},
        {"page_header", ONET_REGION_FURNITURE},
        {"page-header", ONET_REGION_FURNITURE},
        {"page_footer", ONET_REGION_FURNITURE},
        {"page-footer", ONET_REGION_FURNITURE},
        {"page_number", ONET_REGION_FURNITURE},
        {"table", ONET_REGION_OTHER},
        {"image", ONET_REGION_OTHER},
        {"picture", ONET_REGION_OTHER},
        {"figure", ONET_REGION_OTHER},
        {"graphic", ONET_REGION_OTHER},
        {"chart", ONET_REGION_OTHER},
        {"separator", ONET_REGION_SEPARATOR},
    };
    for (size_t i = 0; type && i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(type, names[i].name)) return names[i].region;
    return type ? (onet_region)page_kind_of(type) : ONET_REGION_TEXT;
}

onet_status onet_pages_new(onet_pages **pages, const onet_model *model, const onet_order_options *options,
                           onet_error *err) {
    if (!pages) return fail(err, ONET_USAGE, "pages is NULL");
    *pages = NULL;
    onet_pages *p = array_new(1, sizeof *p);
    if (!p) return fail_memory(err, "the pages");
    onet_status status = ONET_OK;
    p->style.usual = PAGE_WAY_GUTTERS;
    if (model && (onet_model_words(model) || onet_model_settings(model)->width != page_feature_count()))
        status = fail(err, ONET_BAD, "the model was not trained on pages, or by an earlier version");
    if (!status && model) status = pages_style_of(&p->style, model, err);
    if (!status && model) status = onet_orderer_new(&p->orderer, model, options, err);
    if (status)
        onet_pages_free(p);
    else
        *pages = p;
    return status;
}

void onet_pages_free(onet_pages *pages) {
    if (!pages) return;
    onet_orderer_free(pages->orderer);
    free(pages);
}

static onet_status make_page(page *p, const double *boxes, const int32_t *regions, int n, onet_error *err) {
    for (int i = 0; i < n; i++) {
        const double *b = boxes + 4 * (size_t)i;
        int kind = regions ? regions[i] : ONET_REGION_TEXT;
        if (kind < ONET_REGION_TEXT || kind > ONET_REGION_SEPARATOR)
            return fail(err, ONET_BAD, "region %d: its kind is %d; it must be 0 to %d", i, kind,
                        ONET_REGION_SEPARATOR);
        page_box box = {b[0], b[1], b[2], b[3]};
        if (!page_box_valid(&box))
            return fail(err, ONET_BAD,
                        "box %d is [%g, %g, %g, %g]; it must be [x0, y0, x1, y1] with x0 <= x1 and y0 <= y1, "
                        "of finite numbers",
                        i, b[0], b[1], b[2], b[3]);
        page_region *g = page_add(p, "", "", (page_kind)kind);
        if (!g) return fail_memory(err, "the boxes of a page");
        g->box = box;
        g->listed = kind != ONET_REGION_SEPARATOR;
    }
    return page_place(p, NULL, err);
}

static onet_status order_page(onet_pages *pages, const double *boxes, const int32_t *regions, int n, int rtl,
                              int32_t *order, int *count, double *confidence, onet_error *err) {
    if (!pages || !count || n < 0 || (n && (!boxes || !order)))
        return fail(err, ONET_USAGE, "pages, boxes, order and count must be given, and n be 0 or more");
    *count = 0;
    if (n > ONET_PAGES_MAX_REGIONS)
        return fail(err, ONET_BAD, "%d regions; a page has at most %d", n, ONET_PAGES_MAX_REGIONS);
    page p = {0}, *one = &p;
    onet_status status = make_page(&p, boxes, regions, n, err);
    if (!status && rtl) page_mirror(&p);
    if (!status) status = pages_choose(pages->orderer, &pages->style, &one, 1, confidence, err);
    if (!status) {
        page_order_of(&p, true, order);
        *count = p.placed;
    }
    page_free(&p);
    return status;
}

onet_status onet_pages_order(onet_pages *pages, const double *boxes, const int32_t *regions, int n, int rtl,
                             int32_t *order, int *count, onet_error *err) {
    return order_page(pages, boxes, regions, n, rtl, order, count, NULL, err);
}

onet_status onet_pages_order_confidence(onet_pages *pages, const double *boxes, const int32_t *regions, int n,
                                        int rtl, int32_t *order, int *count, double *confidence,
                                        onet_error *err) {
    if (!confidence) return fail(err, ONET_USAGE, "confidence is NULL");
    *confidence = 0;
    return order_page(pages, boxes, regions, n, rtl, order, count, confidence, err);
}
