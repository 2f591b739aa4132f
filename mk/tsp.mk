# Fuzz targets are linked with the library alone; this one needs a reader of the program.
$(B)/fuzz/replay_tsplib build/fuzz/fuzz_tsplib: $(B)/src/tours/tsplib.o $(B)/src/tsp/instance.o
