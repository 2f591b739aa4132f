# What a fresh machine lacks is installed before anything is compiled; nothing happens where all is there.
setup:
	@sh mk/setup.sh "$(CC)" $(B)

.PHONY: setup
