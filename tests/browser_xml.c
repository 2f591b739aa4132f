/* Compiles the XML parser of the browser page under names of its own, so that test_browser_xml.c can compare
 * it with libxml2 in one program. */
#include "browser_xml.h"

#define xmlInitParser                browser_init
#define xmlSetGenericErrorFunc       browser_set_error
#define xmlThrDefSetGenericErrorFunc browser_set_default_error
#define xmlNewParserCtxt             browser_new
#define xmlFreeParserCtxt            browser_free
#define xmlCtxtReadMemory            browser_read
#define xmlDocGetRootElement         browser_root
#define xmlFreeDoc                   browser_free_doc
#define xmlGetLineNo                 browser_line
#define xmlHasProp                   browser_has
#define xmlGetNoNsProp               browser_get
#define xmlNodeGetContent            browser_content
#define xmlFree                      browser_free_text
#include "tasks/layout/wasm/libxml.c"

#include "xml_seen.h"

char *browser_xml(const char *text, size_t size, char why[200]) {
    return xml_seen(text, size, why);
}
