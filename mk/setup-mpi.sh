#!/bin/sh
# Installs Open MPI and MPICH with apt-get, for `make check-mpi`, which skips its tests without them.
missing=
command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null || missing="openmpi-bin libopenmpi-dev"
command -v mpicc.mpich >/dev/null && command -v mpirun.mpich >/dev/null || missing="$missing mpich libmpich-dev"
[ -n "$missing" ] || exit 0
root=
[ "$(id -u)" = 0 ] || root=sudo
echo "setup: installing with apt-get: $missing"
$root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || echo "setup: apt-get update failed; continuing" >&2
# shellcheck disable=SC2086 # the list is meant to be split
$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null ||
    echo "setup: not installed: $missing"
