# Installs the libraries that are missing; does nothing if all are there.
setup:
	@sh mk/setup.sh "$(CC)" $(B)

.PHONY: setup
