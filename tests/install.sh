#!/bin/sh
# Tests `make install`: installs into a folder, builds and runs a program against it, and uninstalls without
# leaving a file. Also checks that the other files that state the version state that of the header.
. tests/count.sh
prefix=$folder/usr
lib=$prefix/lib
check "make install" $MAKE --no-print-directory install PREFIX="$prefix"
check "installed program" "$prefix/bin/ordernet" --version
for file in bin/ordernet $(ls include/*.h) lib/libordernet.a lib/libordernet.so lib/libordernet.so.1 \
    lib/pkgconfig/ordernet.pc share/man/man1/ordernet.1 share/bash-completion/completions/ordernet \
    share/doc/ordernet/LICENSE share/doc/ordernet/docs/pages.md share/doc/ordernet/examples/data/pages/book.xml share/doc/ordernet/examples/words.c share/zsh/site-functions/_ordernet share/fish/vendor_completions.d/ordernet.fish; do
    check "installed $file" test -s "$prefix/$file"
done
[ ! -f "$prefix/share/ordernet/page/index.html" ] ||
    check "one word model" test "$prefix/share/ordernet/models/words.safetensors" -ef "$prefix/share/ordernet/page/models/words.safetensors"
check "bash reads its completions" bash -n "$prefix/share/bash-completion/completions/ordernet"

# The flags come from ordernet.pc, as pkg-config would read them.
pc() { # FIELD
    sed -n "s|^$1: *||p" "$lib/pkgconfig/ordernet.pc" |
        sed "s|\${includedir}|$prefix/include|g; s|\${libdir}|$lib|g"
}
# The header has the version; what is written by hand beside it must be the same.
version=$(sed -n 's/^#define ONET_VERSION_[A-Z]* //p' include/ordernet.h | paste -sd.)
check "version of the program" test "$("$prefix/bin/ordernet" --version)" = "ordernet $version"
check "version of ordernet.pc" test "$(pc Version)" = "$version"
check "version of the man page" grep -q "OrderNet $version" "$prefix/share/man/man1/ordernet.1"
check "version of the server's API" grep -q "^    \"version\": \"$version\"," docs/openapi.json
check "version of CITATION.cff" grep -qx "version: $version" CITATION.cff
check "version of debian/changelog" test "$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' debian/changelog)" = "$version"
check "last version of the changelog" test "$(sed -n 's/^## \([0-9]\)/\1/p' CHANGELOG.md | head -1)" = "$version"
cat >"$folder/user.c" <<'END'
#include <ordernet.h>
#include <stdio.h>
int main(void) {
    onet_settings settings;
    onet_error err;
    if (onet_settings_preset(&settings, "tsp", &err)) return 1;
    printf("%s %d\n", onet_version(), settings.hidden);
    return settings.hidden != 128;
}
END
# shellcheck disable=SC2046 # the flags are meant to be split
{
    check "link with the shared library" $CC $(pc Cflags) "$folder/user.c" $(pc Libs) -o "$folder/shared"
    check "run with the shared library" env LD_LIBRARY_PATH="$lib" "$folder/shared"
    check "link with the static library" $CC $(pc Cflags) "$folder/user.c" "$lib/libordernet.a" \
        $(pc Libs.private) -o "$folder/static"
}
check "run with the static library" "$folder/static"
if command -v readelf >/dev/null; then
    check "soname" sh -c "readelf -d $lib/libordernet.so | grep -q 'soname: \[libordernet.so.1\]'"
else
    skip "no readelf here (Debian: binutils), the soname was not checked"
fi
check "make uninstall" $MAKE --no-print-directory uninstall PREFIX="$prefix"
check "nothing left" sh -c "test -z \"\$(find '$prefix' ! -type d)\""

# A place with blanks, quotes and a dollar is one place; what stands beside, or was put there by others, stays.
odd="$folder/a b's \"c\" \$HOME"
mkdir -p "$odd/usr/share/ordernet/models" "$folder/a"
for stranger in "$folder/a/stranger" "$folder/stranger" "$odd/usr/share/ordernet/models/own.safetensors" \
    "$odd/usr/share/ordernet/notes.txt"; do
    echo mine >"$stranger"
done
# make takes \$\$ for a dollar.
check "make install with blanks in DESTDIR" $MAKE --no-print-directory install PREFIX=/usr DESTDIR="$(printf %s "$odd" | sed 's/\$/$$/g')"
check "installed in that place" "$odd/usr/bin/ordernet" --version
check "installed models there" test -s "$odd/usr/share/ordernet/models/words.safetensors"
check "make uninstall with blanks in DESTDIR" $MAKE --no-print-directory uninstall PREFIX=/usr DESTDIR="$(printf %s "$odd" | sed 's/\$/$$/g')"
check "only the strangers' files are left" test "$(find "$odd" ! -type d | wc -l)" = 2
for stranger in "$folder/a/stranger" "$folder/stranger" "$odd/usr/share/ordernet/models/own.safetensors" \
    "$odd/usr/share/ordernet/notes.txt"; do
    check "$(basename "$stranger") stays" test -s "$stranger"
done
# Restores the ordernet.pc of the default prefix.
$MAKE --no-print-directory ordernet.pc
finish
