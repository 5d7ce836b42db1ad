/* library: the shared object of the two-module target. */
int library_weigh(const unsigned char *data, unsigned long size);

int library_weigh(const unsigned char *data, unsigned long size)
{
    int weight = 0;
    for (unsigned long i = 0; i < size; i++) {
        if (data[i] == 'a')
            weight += 1;
        else if (data[i] == 'b')
            weight -= 2;
#ifdef MORE
        else if (data[i] == 'c')
            weight ^= 4;
#endif
    }
    return weight;
}
