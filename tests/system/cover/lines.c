/* lines: a program with a main of its own: reads the file it is given, or standard input, and counts.
 * Its exit code is the number of lines that begin with '!'. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int classify(const char *line)
{
    if (line[0] == '!')
        return 1;
    if (strchr(line, '=') && strlen(line) > 4)
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    FILE *f = stdin;
    if (argc > 1 && !(f = fopen(argv[argc - 1], "rb")))
        return 99;
    char line[4096];
    int bang = 0, pairs = 0;
    while (fgets(line, sizeof line, f)) {
        int kind = classify(line);
        bang += kind == 1;
        if (kind == 2) {
            char *copy = malloc(sizeof line);
            memcpy(copy, line, sizeof line);
            pairs += copy[0] == 'k';
            free(copy);
        }
        if (strcmp(line, "boom\n") == 0)
            abort();
    }
    printf("%d pairs\n", pairs);
    return bang;
}
