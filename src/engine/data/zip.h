/* Reads and writes zip archives as far as NumPy's .npz files need it: members stored or deflated, sizes in 32
 * or 64 bits. */
#ifndef DATA_ZIP_H
#define DATA_ZIP_H

#include "engine/base/file.h"

/* ---- Reading ----------------------------------------------------------------------------------------- */

typedef struct zip zip;
typedef struct zip_member zip_member;

/* Reads the directory. The input stays its owner's and must be open as long as the zip. */
onet_status zip_open(zip **archive, input *in, onet_error *err);
void zip_close(zip *archive);

/* Opens a member; *member == NULL when there is none of that name. One at a time. */
onet_status zip_member_open(zip_member **member, zip *archive, const char *name, onet_error *err);
/* Returns the decompressed size that the directory states. zip_member_open has checked that the packed bytes
 * can hold so many. */
size_t zip_member_size(const zip_member *member);
/* Reads exactly `size` bytes; ONET_BAD when there are fewer. The last byte of the member also checks its
 * checksum. */
onet_status zip_member_read(zip_member *member, void *buffer, size_t size, onet_error *err);
void zip_member_close(zip_member *member);

/* ---- Writing ----------------------------------------------------------------------------------------- */

/* A member to be written, stored: its head and then its data. */
typedef struct zip_part {
    const char *name;
    const void *head, *data;
    size_t head_size, data_size;
} zip_part;

/* Writes a whole archive of at most 8 members, through the atomic output. */
onet_status zip_write(const char *path, const zip_part *part, int parts, onet_error *err);

#endif
