/* Compares the XML parser of the browser page with libxml2 on damaged page files: both must accept a file and
 * see the same in it, or both refuse it. */
#include <libxml/parser.h>

#include "browser_xml.h"
#include "engine/base/rng.h"
#include "tasks/layout/xml.h"
#include "unit.h"
#include "xml_seen.h"

/* XML that the page files of this repository lack. */
static const char odd[] =
    "<?xml version='1.0' encoding=\"UTF-8\" standalone='yes'?>\n<!-- a comment -->\n<?note for nobody?>\n"
    "<p:PcGts xmlns:p=\"http://x/\" xmlns='y' p:z='1' z=\"a&#x4E;&lt;b\t&quot;\">\r\n<p:Page "
    "id='\xC3\xA4\xE2\x82\xAC'\n"
    " imageWidth = '7' ><![CDATA[ raw <&> ]]>text &amp; more &#8364;\r<a/><b.c-d_e>\xF0\x9F\x98\x80</b.c-d_e>"
    "<\xC3\xA4\xC3\xB6 l\xC3\xA4nge=''/>\n<!--\n--></p:Page ><?end?>\n</p:PcGts>\n<!-- last -->\n";
static const char typed[] =
    "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0//EN\" 'x>y'>\n<alto a='&nbsp;x'><b>&nbsp;</b>&gt;</alto>";

/* Pieces of markup that are put in wrong places. */
static const char *const pieces[] = {"<",
                                     ">",
                                     "&",
                                     ";",
                                     "'",
                                     "\"",
                                     "=",
                                     "/",
                                     "!",
                                     "?",
                                     "-",
                                     "--",
                                     "]",
                                     "]]>",
                                     "<!--",
                                     "-->",
                                     "<![CDATA[",
                                     "<?xml version='1.0'?>",
                                     "<?a",
                                     "?>",
                                     "</",
                                     "/>",
                                     "<a>",
                                     "</a>",
                                     "<a b='1'>",
                                     " id='1'",
                                     " p:z='2'",
                                     " xmlns:q='r'",
                                     " xmlns=''",
                                     "q:",
                                     ":",
                                     "p:",
                                     "&#0;",
                                     "&#x1F;",
                                     "&#xFFFE;",
                                     "&#xD800;",
                                     "&#1114112;",
                                     "&#65;",
                                     "&#x;",
                                     "&x;",
                                     "&lt",
                                     "&#-1;",
                                     "\x01",
                                     "\x0B",
                                     "\x7F",
                                     "\xC2\x85",
                                     "\xEF\xBF\xBE",
                                     "\xEF\xBF\xBF",
                                     "\xC3\x97",
                                     "\xC3\xB7",
                                     "\xCC\x80",
                                     "\xE2\x80\xBF",
                                     "\xEF\xBB\xBF",
                                     "\xE2\x80\xA8",
                                     "1",
                                     ".",
                                     " ",
                                     "\n",
                                     "\r",
                                     "\t",
                                     "<!DOCTYPE a>",
                                     "<!ENTITY",
                                     "standalone='maybe'",
                                     " encoding=''",
                                     "version='2.0'"};

/* One to three changes of text [*size], which has the room for them. */
static void damage(rng *r, char *text, size_t *size) {
    for (uint64_t change = 1 + rng_below(r, 3); change; change--) {
        size_t at = (size_t)rng_below(r, *size + 1), rest = *size - at;
        size_t some = rest ? (size_t)rng_below(r, rest < 20 ? rest : 20) + 1 : 0;
        const char *piece = pieces[rng_below(r, sizeof pieces / sizeof *pieces)];
        size_t length = strlen(piece);
        switch (rng_below(r, 4)) {
        case 0: /* left out */
            memmove(text + at, text + at + some, rest - some);
            *size -= some;
            break;
        case 1: /* twice */
            memmove(text + at + some, text + at, rest);
            *size += some;
            break;
        default: /* put in */
            memmove(text + at + length, text + at, rest);
            memcpy(text + at, piece, length);
            *size += length;
        }
    }
}

/* Returns whether the reader passes the text to the parser: UTF-8 without a document type of its own (xml.c).
 */
static bool reaches_parser(const char *text, size_t size) {
    page_text t;
    page_xml x;
    onet_error err;
    if (page_text_from(&t, "damaged", text, size, &err)) return false;
    bool reaches = !t.encoding[0] && !t.mark_size && t.size;
    onet_status status = reaches ? xml_parse(&x, &t, "damaged", &err) : ONET_BAD;
    if (status && strstr(err.text, "declarations of its own")) reaches = false;
    if (!status) xml_free(&x);
    page_text_free(&t);
    return reaches;
}

static size_t both, neither;

static void compare(const char *text, size_t size) {
    char why[200], browser_why[200];
    if (!reaches_parser(text, size)) return;
    char *right = xml_seen(text, size, why), *seen = browser_xml(text, size, browser_why);
    if (!right != !seen)
        fail_msg("the browser %s what libxml2 does not (libxml2: %s; browser: %s):\n%.*s",
                 seen ? "reads" : "refuses", why, browser_why, (int)size, text);
    if (right && strcmp(right, seen))
        fail_msg("libxml2 sees\n%s\nand the browser\n%s\nof\n%.*s", right, seen, (int)size, text);
    if (right)
        both++;
    else
        neither++;
    free(right);
    free(seen);
}

static void damaged_files_are_read_by_both_or_by_neither(void **state) {
    (void)state;
    xml_start();
    static char text[8192], files[3][8192 - 256];
    size_t sizes[3] = {sizeof odd - 1, sizeof typed - 1};
    memcpy(files[0], odd, sizes[0]);
    memcpy(files[1], typed, sizes[1]);
    FILE *file = fopen("tests/pages/two-columns.xml", "rb");
    assert_non_null(file);
    sizes[2] = fread(files[2], 1, sizeof files[2], file);
    fclose(file);
    rng r;
    rng_seed(&r, 1, 0);
    for (int i = 0; i < 20000; i++) {
        size_t which = (size_t)(i % 3), size = sizes[which];
        memcpy(text, files[which], size);
        if (i >= 3) damage(&r, text, &size);
        compare(text, size);
    }
    print_message("%zu damaged files were read, %zu refused\n", both, neither);
    assert_true(both > 2000 && neither > 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files_are_read_by_both_or_by_neither)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
