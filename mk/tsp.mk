# The fuzz targets are linked with the library alone; this one reads files for the program.
$(B)/fuzz/replay_tsplib build/fuzz/fuzz_tsplib: $(B)/src/tsp/tsplib.o $(B)/src/tsp/instance.o
