/* What Expat's build is told of this machine and of what it may leave out. */
#define BYTEORDER 1234
#define XML_CONTEXT_BYTES 1024
#define XML_DTD 1
#define XML_NS 1
#define XML_POOR_ENTROPY 1 /* never asked: the harness sets the salt */
