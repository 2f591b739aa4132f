# Fuzz targets are linked with the library alone; this one needs a reader of the program.
