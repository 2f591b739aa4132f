/* Reads scans of pages: PNG by cairo, JPEG by libjpeg. */
#include "tasks/layout/scan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include "engine/base/error.h"

/* A picture of a page has at most some 1,600 pixels per panel; libjpeg reads larger scans smaller at once. */
enum { ENOUGH = 2000, MOST_SIDE = 32767 };

/* libjpeg ends the program on an error, unless its handler jumps away. */
typedef struct jpeg_failure {
    struct jpeg_error_mgr manager; /* first: libjpeg knows only this part */
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
} jpeg_failure;

static void leave(j_common_ptr jpeg) {
    jpeg_failure *f = (jpeg_failure *)jpeg->err;
    f->manager.format_message(jpeg, f->text);
    longjmp(f->back, 1);
}

static void say_nothing(j_common_ptr jpeg, int level) {
    (void)jpeg;
    (void)level;
}

/* The rows of the picture into a surface. All that must outlive a jump belongs to the caller. */
static void read_rows(struct jpeg_decompress_struct *jpeg, FILE *file, cairo_surface_t **scan) {
    jpeg_create_decompress(jpeg);
    jpeg_stdio_src(jpeg, file);
    jpeg_read_header(jpeg, TRUE);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ /* cairo's RGB24 is one number per pixel */
    jpeg->out_color_space = JCS_EXT_XRGB;
#else
    jpeg->out_color_space = JCS_EXT_BGRX;
#endif
    jpeg->scale_num = 1;
    jpeg->scale_denom = 1;
    while (jpeg->scale_denom < 8 && jpeg->image_height / jpeg->scale_denom > ENOUGH) jpeg->scale_denom *= 2;
    jpeg_start_decompress(jpeg);
    if (jpeg->output_width > MOST_SIDE || jpeg->output_height > MOST_SIDE) return;
    *scan = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)jpeg->output_width, (int)jpeg->output_height);
    if (cairo_surface_status(*scan) != CAIRO_STATUS_SUCCESS) return;
    unsigned char *pixels = cairo_image_surface_get_data(*scan);
    size_t stride = (size_t)cairo_image_surface_get_stride(*scan);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = pixels + stride * jpeg->output_scanline;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    cairo_surface_mark_dirty(*scan);
}

static onet_status read_jpeg(cairo_surface_t **scan, FILE *file, const char *path, onet_error *err) {
    struct jpeg_decompress_struct jpeg = {0};
    jpeg_failure failure = {0};
    jpeg.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = leave;
    failure.manager.emit_message = say_nothing;
    if (setjmp(failure.back)) {
        jpeg_destroy_decompress(&jpeg);
        return fail(err, ONET_BAD, "%s cannot be read as JPEG: %s", path, failure.text);
    }
    read_rows(&jpeg, file, scan);
    jpeg_destroy_decompress(&jpeg);
    if (*scan && cairo_surface_status(*scan) == CAIRO_STATUS_SUCCESS) return ONET_OK;
    return fail(err, ONET_BAD, "%s: the scan is too large to draw", path);
}

onet_status scan_read(cairo_surface_t **scan, const char *path, onet_error *err) {
    unsigned char first[3] = {0};
    *scan = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return fail(err, ONET_IO, "cannot open %s: %s", path, strerror(errno));
    onet_status status = ONET_OK;
    size_t size = fread(first, 1, sizeof first, file);
    if (size == 3 && first[0] == 0xff && first[1] == 0xd8 && first[2] == 0xff) {
        rewind(file);
        status = read_jpeg(scan, file, path, err);
    } else {
        *scan = cairo_image_surface_create_from_png(path);
        if (cairo_surface_status(*scan) != CAIRO_STATUS_SUCCESS)
            status = fail(err, ONET_BAD, "%s cannot be read as PNG or JPEG: %s", path,
                          cairo_status_to_string(cairo_surface_status(*scan)));
    }
    fclose(file);
    if (status && *scan) {
        cairo_surface_destroy(*scan);
        *scan = NULL;
    }
    return status;
}
